import {
  type Context,
  describeError,
  getOrAdd,
  isPackhouseError,
  PackhouseError,
  redact,
} from '@packhouse/runtime';
import type { Telemetry } from 'bullmq';
import type { Backend, BackendOptions, Producer } from './backend.js';
import { checkRequest } from './payloads.js';
import { openPostgresBackend } from './postgres-backend.js';
import type { QueueName, Queues, Worker } from './queues.js';
import { openRedisBackend } from './redis-backend.js';
import { startWorker } from './start-worker.js';

/** Shortest time between two reports of a lost connection, in milliseconds. */
const REPORT_EVERY_MS = 5_000;
const ATTEMPTS = 5;

export interface QueuesOptions {
  context: Context;
  /** `redis://` or `rediss://`; takes precedence over `databaseUrl`. */
  redisUrl?: string | undefined;
  /** `postgres://`; jobs are in its schema `bullmq`. */
  databaseUrl?: string | undefined;
  /** Namespace, so that several installations share a server; default `packhouse`. */
  prefix?: string;
  /** Most tries of a job; default 5. */
  attempts?: number;
  /** First pause before a retry, in milliseconds, doubled each time; default 1000. */
  backoffMs?: number;
  /** How long a killed worker's job stays untouched, in milliseconds (it is back within twice this); default 12000. */
  lockMs?: number;
  /**
   * Finished jobs, and failed ones, that each queue keeps for dashboards; default 0, for keeping them makes a job
   * nearly twice as dear on Postgres. Those of the queue `schedule` are never kept: its runs have rows.
   */
  kept?: number;
  /** Only reads: creates no tables, writes nothing; default false. */
  readOnly?: boolean;
}

/**
 * Opens the queues on Redis or, without it, on Postgres.
 *
 * Throws QUEUE_UNAVAILABLE if the server does not answer, DATABASE_NEWER, SETTINGS_INVALID if neither address is given.
 * If the server fails later, `add` throws QUEUE_UNAVAILABLE, and workers continue when it is back.
 */
export async function createQueues(options: QueuesOptions): Promise<Queues> {
  const { context } = options;
  const { attempts = ATTEMPTS, backoffMs = 1_000 } = options;
  const logger = context.logger.child({ part: 'queue' });
  const backend = await openBackend(options);
  const producers = new Map<QueueName, Promise<Producer>>();
  const workers = new Set<Worker>();
  let closing: Promise<void> | undefined;

  const producer = (queue: QueueName): Promise<Producer> =>
    getOrAdd(producers, queue, () => {
      const opening = backend.producer(queue);
      opening.catch(() => producers.delete(queue));
      return opening;
    });
  const attempt = async <T>(what: string, queue: QueueName, action: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw unavailable(what, queue, backend, new Error('the queues are closed'));
    try {
      return await action();
    } catch (error) {
      throw isPackhouseError(error) ? error : unavailable(what, queue, backend, error);
    }
  };
  logger.debug({ address: backend.address }, 'queues opened');

  return {
    add: (queue, requests) =>
      attempt('Adding jobs to', queue, async () => {
        const jobs = requests.map((request) => ({ ...checkRequest(queue, request), attempts, backoffMs }));
        if (jobs.length > 0) await (await producer(queue)).addAll(jobs);
      }),
    work: (queue, handler, options) =>
      attempt('Working on', queue, async () => {
        const worker = await startWorker({ backend, context, queue, handler, ...options });
        const tracked: Worker = {
          close: async (how) => {
            await worker.close(how);
            workers.delete(tracked);
          },
        };
        workers.add(tracked);
        return tracked;
      }),
    pendingIds: (queue) =>
      attempt('Listing', queue, async () => new Set(await (await producer(queue)).pendingIds())),
    counts: (queue) => attempt('Counting', queue, async () => (await producer(queue)).counts()),
    peek: (queue, limit) => attempt('Reading', queue, async () => (await producer(queue)).peek(limit)),
    remove: (queue, ids) =>
      attempt('Removing jobs from', queue, async () => (await producer(queue)).remove(ids)),
    repeat: (recurring) =>
      attempt('Repeating jobs of', 'schedule', async () => (await producer('schedule')).repeat(recurring)),
    close: () => {
      closing ??= (async () => {
        await Promise.all([...workers].map((worker) => worker.close()));
        const open = await Promise.allSettled(producers.values());
        await Promise.all(open.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)));
        await backend.close();
      })();
      return closing;
    },
  };
}

/** Opens the store of jobs. Throws QUEUE_UNAVAILABLE, DATABASE_NEWER, SETTINGS_INVALID. */
export async function openBackend(options: QueuesOptions): Promise<Backend> {
  const { context } = options;
  const backend: BackendOptions = {
    prefix: options.prefix ?? 'packhouse',
    lockMs: options.lockMs ?? 12_000,
    maxStalled: options.attempts ?? ATTEMPTS,
    kept: options.kept ?? 0,
    telemetry: await openTelemetry(context),
    readOnly: options.readOnly ?? false,
    onError: reporter(context),
  };
  if (options.redisUrl !== undefined) return openRedisBackend(options.redisUrl, backend);
  if (options.databaseUrl !== undefined) return openPostgresBackend(options.databaseUrl, backend);
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: 'The queue has nowhere to live: neither a Redis nor a Postgres address was given.',
    hint: 'Set REDIS_URL or DATABASE_URL.',
  });
}

function unavailable(what: string, queue: QueueName, backend: Backend, cause: unknown): PackhouseError {
  return new PackhouseError({
    code: 'QUEUE_UNAVAILABLE',
    message: `${what} queue ${queue} at ${backend.address} failed: ${redact(describeError(cause))}.`,
    hint: 'Nothing is lost: what is missing from a queue is planned again once its server answers.',
    data: { queue, address: backend.address },
    cause,
  });
}

/** Logs connection errors, the first at once and then seldom, so that an hour without the server is a few lines. */
function reporter(context: Context): (error: Error) => void {
  let last = Number.NEGATIVE_INFINITY;
  let hidden = 0;
  return (error) => {
    const now = context.clock.elapsed();
    if (now - last < REPORT_EVERY_MS) {
      hidden += 1;
      return;
    }
    context.logger.warn({ part: 'queue', error: redact(describeError(error)), hidden }, 'queue trouble');
    last = now;
    hidden = 0;
  };
}

/** The optional package, which the compiler must not look for. */
const PACKAGE: string = 'bullmq-otel';

interface BullMqOtel {
  BullMQOtel: new (options: { tracerName: string }) => Telemetry;
}

/**
 * Spans of jobs, if the process is traced and `bullmq-otel` is installed; else undefined, at no cost. A job's span is
 * inside of the span that wants the job, and active while the job runs.
 */
async function openTelemetry({ tracing, logger }: Context): Promise<Telemetry | undefined> {
  if (tracing === undefined) return undefined;
  try {
    const { BullMQOtel } = (await import(PACKAGE)) as BullMqOtel;
    return new BullMQOtel({ tracerName: 'packhouse' });
  } catch (error) {
    logger.info({ err: error }, 'jobs have no spans: the package bullmq-otel is not installed');
    return undefined;
  }
}
