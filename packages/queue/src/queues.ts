import type { Kind } from '@packhouse/chain';

/** Payloads by queue name. Block ranges are inclusive. */
export interface JobPayloads {
  /** Fetch, prove and stage a window of blocks. */
  ingest: { network: string; start: number; end: number; kinds: readonly Kind[] };
  /** Pack and publish what can be packed of one kind, from `start` on. */
  pack: { network: string; kind: Kind; start: number };
}

export type QueueName = keyof JobPayloads;

export interface JobRequest<N extends QueueName> {
  /** Deterministic; a job that is still there under this id is left as it is. No `:`. */
  id: string;
  payload: JobPayloads[N];
  /** 1 is first; 1 to 1000. */
  priority: number;
}

export interface Job<N extends QueueName> {
  id: string;
  payload: JobPayloads[N];
  /** 1 on the first try. */
  attempt: number;
  /** Aborted when the worker is told to stop at once. */
  signal: AbortSignal;
}

export interface Worker {
  /** Takes no further job and waits for the running ones; `now` aborts their signals first. */
  close(how?: { now?: boolean }): Promise<void>;
}

/** Jobs of one queue by their state; the failed ones are gone, and counted in packhouse_queue_jobs_total. */
export type JobCounts = Record<'waiting' | 'delayed' | 'active', number>;

/** Ids of jobs, by whether they run; at most as many of each as were asked for. */
export interface QueueLook {
  running: string[];
  /** Waiting for a worker, or for the time of their next try. */
  waiting: string[];
}

/**
 * Job queues; a hint, never the truth: a job that they lose is planned again.
 *
 * Completed jobs, and failed ones after their last try, are removed at once, so that their ids are free again.
 */
export interface Queues {
  add<N extends QueueName>(queue: N, jobs: readonly JobRequest<N>[]): Promise<void>;
  /**
   * Runs `handler` for each job, at most `concurrency` at a time; a throw is retried with back-off, `attempts` in all.
   * When the context's signal is aborted no further job is taken, and one that throws is given back instead: it counts
   * as not tried and is taken up at once by another worker.
   */
  work<N extends QueueName>(
    queue: N,
    handler: (job: Job<N>) => Promise<void>,
    options: { concurrency: number },
  ): Promise<Worker>;
  /** Ids of all jobs that are waiting, delayed or running. */
  pendingIds(queue: QueueName): Promise<Set<string>>;
  /** How many jobs there are; cheap, however many there are. */
  counts(queue: QueueName): Promise<JobCounts>;
  /** Ids of jobs that run and of jobs that wait, at most `limit` of each. Changes nothing. */
  look(queue: QueueName, limit: number): Promise<QueueLook>;
  /** Removes waiting and delayed jobs with these ids; running ones are left. */
  remove(queue: QueueName, ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
