import { type Context, describeError, isBudgetError, redact } from '@packhouse/runtime';
import type { Backend, JobOutcome, TakenJob } from './backend.js';
import { isOfNewerVersion, parsePayload } from './payloads.js';
import type { Job, QueueName, Worker, WorkOptions } from './queues.js';

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
  const { context, queue, handler } = options;
  const logger = context.logger.child({ part: 'queue', queue });
  const jobs = context.metrics.counter('packhouse_queue_jobs_total', 'Tries of jobs by how they ended', [
    'queue',
    'outcome',
  ]);
  const running = new Map<string, AbortController>();

  const run = async (taken: TakenJob): Promise<JobOutcome> => {
    let payload: Job<N>['payload'];
    try {
      payload = parsePayload(queue, taken.id, taken.payload);
    } catch (error) {
      if (isOfNewerVersion(error)) {
        logger.info({ job: taken.id, error: describeError(error) }, 'job of a newer version left for it');
        jobs.inc({ queue, outcome: 'left' });
        return 'left';
      }
      // Reported as done to remove it, as a retry could never succeed.
      logger.error({ job: taken.id, error: describeError(error) }, 'malformed job removed');
      jobs.inc({ queue, outcome: 'malformed' });
      return 'done';
    }
    if (context.signal.aborted) return giveBack(taken);
    if (options.takes?.(payload) === false) {
      logger.debug({ job: taken.id }, 'job left for a worker that can run it');
      jobs.inc({ queue, outcome: 'left' });
      return 'left';
    }
    const controller = new AbortController();
    running.set(taken.id, controller);
    try {
      await handler({
        ...{ id: taken.id, payload, due: taken.due, attempt: taken.attempt },
        signal: controller.signal,
      });
      jobs.inc({ queue, outcome: 'done' });
      return 'done';
    } catch (error) {
      if (context.signal.aborted) return giveBack(taken);
      if (isBudgetError(error)) {
        logger.debug({ job: taken.id, error: describeError(error) }, 'job waits for a budget');
        jobs.inc({ queue, outcome: 'left' });
        return 'left';
      }
      const last = taken.attempt >= taken.attempts;
      jobs.inc({ queue, outcome: last ? 'given-up' : 'retried' });
      logger.warn(
        {
          job: taken.id,
          attempt: taken.attempt,
          attempts: taken.attempts,
          error: redact(describeError(error)),
        },
        last ? 'job failed on its last try' : 'job failed, will be tried again',
      );
      throw error;
    } finally {
      if (running.get(taken.id) === controller) running.delete(taken.id);
    }
  };

  const giveBack = ({ id }: TakenJob): JobOutcome => {
    logger.info({ job: id }, 'job given back');
    jobs.inc({ queue, outcome: 'given-back' });
    return 'given-back';
  };

  const consumer = await options.backend.consumer(queue, options.concurrency, {
    run,
    lost: (ids) => {
      for (const id of ids) {
        logger.warn({ job: id }, 'job belongs to nobody or to somebody else by now, told to stop');
        running.get(id)?.abort(new Error(`job ${id} was lost: its lock could not be renewed`));
      }
    },
    stalled: (id) => {
      jobs.inc({ queue, outcome: 'stalled' });
      logger.warn({ job: id }, 'job of a dead worker runs again');
    },
  });

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
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
