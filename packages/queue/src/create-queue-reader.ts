import { type Context, describeError, PackhouseError, redact, withinMs } from '@packhouse/runtime';
import type { Queue } from 'bullmq';
import { createQueues, openBackend, type QueuesOptions } from './create-queues.js';
import type { QueueName, QueueSnapshot, Queues } from './queues.js';

/** Reads the queues and changes nothing, even if they do not exist. */
export interface QueueReader {
  /** Ids of running and of waiting jobs, at most `limit` of each. Throws QUEUE_UNAVAILABLE, also on a timeout. */
  peek(queue: QueueName, limit: number): Promise<QueueSnapshot>;
  close(): Promise<void>;
}

interface QueueReaderOptions extends Pick<QueuesOptions, 'redisUrl' | 'databaseUrl' | 'prefix'> {
  context: Context;
  /** Timeout of a read, connecting included, in milliseconds; default 500. */
  timeoutMs?: number;
}

/** How long no request is sent after a failure, in milliseconds. */
const AWAY_MS = 2_000;

/** Creates a reader; it connects at the first read, and again after a failure. */
export function createQueueReader(options: QueueReaderOptions): QueueReader {
  const { context, timeoutMs = 500, ...where } = options;
  let open: Promise<Queues> | undefined;
  let away: { until: number; error: unknown } | undefined;
  const dropped = new Set<Promise<void>>();
  let closed = false;

  const connected = (): Promise<Queues> => {
    open ??= createQueues({ ...where, context, readOnly: true });
    return open;
  };

  /** Drops a failed reader: reusing it without a server would leak something at every read. */
  const drop = (): void => {
    const broken = open;
    open = undefined;
    if (broken === undefined) return;
    const gone = broken.then((queues) => queues.close()).catch(() => undefined);
    dropped.add(gone);
    void gone.then(() => dropped.delete(gone));
  };

  return {
    peek: async (queue, limit) => {
      if (closed) throw unavailable(queue, 'the reader is closed');
      if (away !== undefined && context.clock.elapsed() < away.until) throw away.error;
      const peeking = connected().then((queues) => queues.peek(queue, limit));
      try {
        const snapshot = await withinMs(timeoutMs, peeking, () =>
          unavailable(queue, `no answer within ${timeoutMs} ms`),
        );
        away = undefined;
        return snapshot;
      } catch (error) {
        drop();
        away = { until: context.clock.elapsed() + AWAY_MS, error };
        throw error;
      }
    },
    close: async () => {
      closed = true;
      drop();
      await Promise.all(dropped);
    },
  };
}

function unavailable(queue: QueueName, why: string): PackhouseError {
  return new PackhouseError({
    code: 'QUEUE_UNAVAILABLE',
    message: `Looking at queue ${queue} failed: ${why}.`,
    hint: 'Nothing is lost: what is missing from a queue is planned again once its server answers.',
    data: { queue },
  });
}

const NAMES: readonly QueueName[] = ['ingest', 'pack', 'schedule', 'hook'];

/** The queues as BullMQ itself has them, for a board that shows their jobs. */
export interface BoardQueues {
  /** Name and queue; nothing is written unless one calls what writes. */
  queues: ReadonlyMap<QueueName, Queue>;
  close(): Promise<void>;
}

/** Opens the queues read-only. Throws QUEUE_UNAVAILABLE if the server does not answer, or has no queues yet. */
export async function openQueuesForBoard(
  options: Pick<QueuesOptions, 'context' | 'redisUrl' | 'databaseUrl' | 'prefix'>,
): Promise<BoardQueues> {
  const backend = await openBackend({ ...options, readOnly: true });
  const closes: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closes.map((each) => each()));
    await backend.close();
  };
  const queues = new Map<QueueName, Queue>();
  try {
    for (const name of NAMES) {
      const producer = await backend.producer(name);
      closes.push(producer.close);
      await producer.counts();
      queues.set(name, producer.bull);
    }
  } catch (error) {
    await close();
    throw new PackhouseError({
      code: 'QUEUE_UNAVAILABLE',
      message: `The queues at ${backend.address} cannot be read: ${redact(describeError(error))}.`,
      hint: 'Start the planner once, which creates them, or correct REDIS_URL or DATABASE_URL.',
      data: { address: backend.address },
      cause: error,
    });
  }
  return { queues, close };
}
