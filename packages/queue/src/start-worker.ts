import { type Context, describeError, getOrAdd, isBudgetError, openScope, redact } from '@packhouse/runtime';
import type { Backend, JobOutcome, TakenJob } from './backend.js';
import { isOfNewerVersion, parsePayload } from './payloads.js';
import type { Job, QueueName, Worker, WorkOptions } from './queues.js';

/** Jobs that a worker with groups takes at most: it takes those of a group until there is no room for more of them. */
const TAKEN_OF_GROUPS = 10_000;

/**
 * Starts to run jobs; throws what the backend throws while it connects.
 *
 * After the context's signal is aborted, no further job is taken, and a running one that throws is returned to the
 * queue: it was interrupted and did not fail.
 */
export async function startWorker<N extends QueueName>(
  options: WorkOptions<N> & {
    backend: Backend;
    context: Context;
    queue: N;
    handler: (job: Job<N>) => Promise<void>;
  },
): Promise<Worker> {
  const { concurrency, context, groups, queue, handler } = options;
  const slots = createSlots({ slots: concurrency, room: groups?.room ?? concurrency });
  /** Aborted when no waiting job may begin any more. */
  const ending = new AbortController();
  const { logger, ended, malformed, givenBack, failed, stalled } = createTries(context, queue);
  const running = new Map<string, AbortController>();

  const run = async (taken: TakenJob): Promise<JobOutcome> => {
    const { id, due, attempt } = taken;
    let payload: Job<N>['payload'];
    try {
      payload = parsePayload(queue, id, taken.payload);
    } catch (error) {
      if (!isOfNewerVersion(error)) return malformed(id, error);
      logger.info({ job: id, error: describeError(error) }, 'job of a newer version left for it');
      return ended('left');
    }
    if (context.signal.aborted) return givenBack(id);
    if (options.takes?.(payload) === false) {
      logger.debug({ job: id }, 'job left for a worker that can run it');
      return ended('left');
    }
    const controller = new AbortController();
    const waiting = openScope(ending.signal, controller.signal);
    const slot = slots.enter(groups?.of(payload) ?? '', waiting.signal);
    if (slot === null) {
      waiting.close();
      return 'no-room';
    }
    running.set(id, controller);
    const leave = await slot;
    waiting.close();
    try {
      if (leave === null) return givenBack(id);
      await handler({ id, payload, due, attempt, signal: controller.signal });
      return ended('done');
    } catch (error) {
      if (context.signal.aborted) return givenBack(id);
      if (isBudgetError(error)) {
        logger.debug({ job: id, error: describeError(error) }, 'job waits for a budget');
        return ended('left');
      }
      failed(taken, error);
      throw error;
    } finally {
      leave?.();
      if (running.get(id) === controller) running.delete(id);
    }
  };

  const taken = groups === undefined ? concurrency : TAKEN_OF_GROUPS;
  const consumer = await options.backend.consumer(queue, taken, {
    run,
    lost: (ids) => {
      for (const id of ids) {
        logger.warn({ job: id }, 'job belongs to nobody or to somebody else by now, told to stop');
        running.get(id)?.abort(new Error(`job ${id} was lost: its lock could not be renewed`));
      }
    },
    stalled,
  });

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ending.abort(new Error('the worker is closed'));
    closing ??= consumer.close();
    return closing;
  };
  // At once, not when this part is closed in turn, or this worker would take returned jobs again.
  context.signal.addEventListener('abort', close, { once: true });
  if (context.signal.aborted) void close();
  return {
    close: (how) => {
      context.signal.removeEventListener('abort', close);
      if (how?.now === true) {
        for (const controller of running.values()) controller.abort(new Error('the worker stops at once'));
      }
      return close();
    },
  };
}

/** Counts and logs how the tries of a queue's jobs end. */
function createTries(context: Context, queue: QueueName) {
  const logger = context.logger.child({ part: 'queue', queue });
  const jobs = context.metrics.counter('packhouse_queue_jobs_total', 'Tries of jobs by how they ended', [
    'queue',
    'outcome',
  ]);
  const ended = (outcome: JobOutcome, counted: string = outcome): JobOutcome => {
    jobs.inc({ queue, outcome: counted });
    return outcome;
  };
  return {
    logger,
    ended,
    /** Reported as done to remove it, as a retry could never succeed. */
    malformed(job: string, error: unknown): JobOutcome {
      logger.error({ job, error: describeError(error) }, 'malformed job removed');
      return ended('done', 'malformed');
    },
    givenBack(job: string): JobOutcome {
      logger.info({ job }, 'job given back');
      return ended('given-back');
    },
    failed({ id, attempt, attempts }: TakenJob, error: unknown): void {
      const last = attempt >= attempts;
      jobs.inc({ queue, outcome: last ? 'given-up' : 'retried' });
      logger.warn(
        { job: id, attempt, attempts, error: redact(describeError(error)) },
        last ? 'job failed on its last try' : 'job failed, will be tried again',
      );
    },
    stalled(job: string): void {
      jobs.inc({ queue, outcome: 'stalled' });
      logger.warn({ job }, 'job of a dead worker runs again');
    },
  };
}

/** The slots of one worker: each group has its own, so that jobs of one group never wait for those of another. */
interface Slots {
  /**
   * Takes a slot of a group, now or when one is free; call the returned function to leave it. Resolves to null if the
   * signal is aborted before. Returns null if as many jobs of the group are here as may be.
   */
  enter(group: string, signal: AbortSignal): Promise<(() => void) | null> | null;
}

interface Group {
  running: number;
  readonly waiting: Set<() => void>;
}

/** `slots`: jobs of a group that run at a time; `room`: with those that wait for a slot. */
function createSlots({ slots, room }: { slots: number; room: number }): Slots {
  const groups = new Map<string, Group>();

  const begin = (name: string, group: Group): (() => void) => {
    group.running += 1;
    return () => {
      group.running -= 1;
      const [next] = group.waiting;
      if (next !== undefined) next();
      else if (group.running === 0) groups.delete(name);
    };
  };

  return {
    enter(name, signal) {
      const group = getOrAdd(groups, name, (): Group => ({ running: 0, waiting: new Set() }));
      if (group.running < slots) return Promise.resolve(begin(name, group));
      if (group.running + group.waiting.size >= room) return null;
      return new Promise((resolve) => {
        const settle = (leave: (() => void) | null): void => {
          group.waiting.delete(go);
          signal.removeEventListener('abort', stop);
          resolve(leave);
        };
        const go = (): void => settle(begin(name, group));
        const stop = (): void => settle(null);
        if (signal.aborted) return resolve(null);
        signal.addEventListener('abort', stop, { once: true });
        group.waiting.add(go);
      });
    },
  };
}
