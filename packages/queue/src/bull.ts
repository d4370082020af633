import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BackendFactory,
  DelayedError,
  type IQueueBackend,
  type Job,
  Queue,
  WaitingError,
  Worker,
} from 'bullmq';
import type { BackendOptions, Consumer, ConsumerEvents, JobOutcome, NewJob, Producer } from './backend.js';
import { getDue, setRepeated } from './bull-repeat.js';

/** Jobs written by one command. */
const BATCH = 1_000;
/** Most concurrent removals. */
const REMOVALS = 50;
/** How long closing a connection may take, in milliseconds. */
export const CLOSE_MS = 5_000;
/** Length of the event streams: short, as events are for dashboards that follow them, which Packhouse does not have. */
const MAX_EVENTS = 100;
/** Prefix of ids: in Redis a job's key is next to the queue's keys (`delayed`, `meta`, …), and BullMQ uses numbers. */
const MARK = 'j-';
/** Delay before a job that this worker cannot run is offered again, or one that it has no room for, in milliseconds. */
const DELAY_MS = { left: 10_000, 'no-room': 1_000 } as const;
const WAITING = ['waiting', 'prioritized', 'delayed'] as const;
const PENDING = [...WAITING, 'active'] as const;

/** The store under BullMQ. */
interface BullParts<C> {
  connection: C;
  factory: BackendFactory<IQueueBackend, C>;
  name: string;
  /** Reads the ids of all pending jobs, if the store has a cheaper way than BullMQ's. */
  pendingIds?: () => Promise<string[]>;
  options: BackendOptions & {
    /** Closes the connections at once; pending calls fail. */
    abandon: () => void;
  };
}

/** Opens a producer; throws what the connection throws. */
export async function bullProducer<C>(parts: BullParts<C>): Promise<Producer> {
  const { telemetry } = parts.options;
  const queue = new Queue<unknown, void, string, unknown, void, string, IQueueBackend, C>(
    parts.name,
    {
      connection: parts.connection,
      prefix: parts.options.prefix,
      streams: { events: { maxLen: MAX_EVENTS } },
      ...(telemetry && { telemetry }),
      skipMetasUpdate: parts.options.readOnly ?? false,
    },
    parts.factory,
  );
  queue.on('error', parts.options.onError);
  try {
    await queue.waitUntilReady();
    // Packhouse never pauses a queue; one that another program paused must not stop all work for ever.
    if (!parts.options.readOnly && (await queue.isPaused())) await queue.resume();
  } catch (error) {
    await closeWithin(CLOSE_MS, queue.close(), parts.options.abandon);
    throw error;
  }

  return {
    bull: queue as unknown as Queue,
    addAll: async (jobs) => {
      for (let from = 0; from < jobs.length; from += BATCH) {
        const batch = jobs.slice(from, from + BATCH);
        if (parts.options.kept > 0) await forgetFinished(queue, batch);
        await queue.addBulk(batch.map((job) => bulkJob(parts, job)));
      }
    },
    counts: async () => {
      const counts = await queue.getJobCounts(...PENDING);
      const of = (state: string): number => counts[state] ?? 0;
      return { waiting: of('waiting') + of('prioritized'), delayed: of('delayed'), active: of('active') };
    },
    pendingIds: async () => {
      const ids = (await parts.pendingIds?.()) ?? (await queue.getRanges([...PENDING], 0, -1));
      return ids.map(unmark);
    },
    peek: async (limit) => {
      // Running jobs first: a job that starts meanwhile is seen twice and not lost.
      const running = (await queue.getRanges(['active'], 0, limit - 1)).map(unmark);
      const waiting = await queue.getRanges([...WAITING], 0, limit - 1);
      return { running, waiting: waiting.slice(0, limit).map(unmark) };
    },
    remove: async (ids) => {
      await forEachJob(ids, (id) => queue.remove(MARK + id));
    },
    repeat: (recurring) => setRepeated(queue, recurring),
    close: () => closeWithin(CLOSE_MS, queue.close(), parts.options.abandon),
  };
}

function unmark(id: string): string {
  return id.startsWith(MARK) ? id.slice(MARK.length) : id;
}

async function forEachJob<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < all.length; from += REMOVALS) {
    await Promise.all(all.slice(from, from + REMOVALS).map(act));
  }
}

/**
 * Removes kept jobs of these ids, which would keep jobs of the same id from being added. If another producer adds one
 * between the two calls, it is removed and added again here, or it runs and cannot be removed.
 */
function forgetFinished(
  queue: Pick<Queue, 'getJobState' | 'remove'>,
  jobs: readonly NewJob[],
): Promise<void> {
  return forEachJob(jobs, async ({ id }) => {
    const state = await queue.getJobState(MARK + id);
    if (state === 'completed' || state === 'failed') await queue.remove(MARK + id);
  });
}

function bulkJob({ name, options }: Pick<BullParts<never>, 'name' | 'options'>, job: NewJob) {
  const { kept, telemetry } = options;
  const keep = kept > 0 && !name.endsWith('schedule') ? { count: kept } : true;
  return {
    name,
    data: job.payload,
    opts: {
      jobId: MARK + job.id,
      priority: job.priority,
      attempts: job.attempts,
      backoff: { type: 'exponential', delay: job.backoffMs, jitter: 0.5 },
      removeOnComplete: keep,
      removeOnFail: keep,
      stackTraceLimit: 0,
      ...(telemetry === undefined || job.trace === undefined
        ? {}
        : { telemetry: { metadata: JSON.stringify({ traceparent: job.trace }) } }),
    },
  };
}

/** Opens a consumer and starts it; throws what the connection throws. */
export async function bullConsumer<C>(
  parts: BullParts<C>,
  concurrency: number,
  events: ConsumerEvents,
): Promise<Consumer> {
  const { telemetry } = parts.options;
  const running = new Set<Promise<JobOutcome>>();
  const worker = new Worker<unknown, void, string, IQueueBackend, number, C>(
    parts.name,
    async (job, token) => {
      const run = events.run({
        id: unmark(job.id ?? ''),
        payload: job.data,
        due: getDue(job),
        attempt: job.attemptsMade + 1,
        attempts: job.opts.attempts ?? 1,
      });
      running.add(run);
      try {
        await putBack(job, token, await run);
      } finally {
        running.delete(run);
      }
    },
    {
      connection: parts.connection,
      prefix: parts.options.prefix,
      concurrency,
      ...(telemetry && { telemetry }),
      autorun: false,
      lockDuration: parts.options.lockMs,
      stalledInterval: Math.ceil(parts.options.lockMs / 3),
      maxStalledCount: parts.options.maxStalled,
      runRetryDelay: 1_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
    parts.factory,
  );
  worker.on('error', parts.options.onError);
  worker.on('lockRenewalFailed', (ids) => events.lost(ids.map(unmark)));
  worker.on('stalled', (id) => events.stalled(unmark(id)));
  try {
    await worker.waitUntilReady();
  } catch (error) {
    await closeWithin(CLOSE_MS, worker.close(true), parts.options.abandon);
    throw error;
  }
  worker.run().catch(parts.options.onError);

  return {
    close: async () => {
      const closed = worker.close();
      // Jobs may take any time; only the exchange with the server has a limit.
      await Promise.allSettled(running);
      await closeWithin(CLOSE_MS, closed, parts.options.abandon);
    },
  };
}

/**
 * Returns a job to the queue. The errors it throws tell BullMQ that the job was moved already. If the server is
 * unreachable, the job comes back when its lock expires.
 */
async function putBack(
  job: Pick<Job, 'moveToWait' | 'moveToDelayed'>,
  token: string | undefined,
  outcome: JobOutcome,
): Promise<void> {
  if (outcome === 'given-back') {
    await job.moveToWait(token).catch(() => undefined);
    throw new WaitingError();
  }
  if (outcome === 'left' || outcome === 'no-room') {
    await job.moveToDelayed(Date.now() + DELAY_MS[outcome], token).catch(() => undefined);
    throw new DelayedError();
  }
}

/**
 * Awaits `closing` for at most `ms` milliseconds, then calls `force` and returns: an unreachable server must not keep
 * a process from ending. Never throws.
 */
export async function closeWithin(
  ms: number,
  closing: Promise<unknown>,
  force: () => unknown,
): Promise<void> {
  const done = new AbortController();
  try {
    const late = sleep(ms, 'late', { signal: done.signal });
    late.catch(() => undefined);
    if ((await Promise.race([closing, late])) !== 'late') return;
  } catch {
    // Forced, as what is late.
  } finally {
    done.abort();
  }
  try {
    await force();
  } catch {
    // Already closed.
  }
}
