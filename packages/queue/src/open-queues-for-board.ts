import { describeError, PackhouseError, redact } from '@packhouse/runtime';
import type { Queue } from 'bullmq';
import { openBackend, type QueuesOptions } from './create-queues.js';
import type { QueueName } from './queues.js';

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
