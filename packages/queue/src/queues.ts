import type { Kind } from '@packhouse/chain';
import type { Cron } from './cron.js';

/** Payloads by queue name. Block ranges are inclusive. */
export interface JobPayloads {
  /** Fetch, check and stage a window of blocks, for a backfill (its id) of an owner. */
  ingest: {
    network: string;
    firstBlock: number;
    lastBlock: number;
    kinds: readonly Kind[];
    backfill?: number | undefined;
    owner?: string | undefined;
  };
  /** Pack and publish what can be packed of one kind, from `firstBlock` on. */
  pack: { network: string; kind: Kind; firstBlock: number };
  /** Run a schedule; `due` is the time in milliseconds since 1970, absent in what BullMQ repeats. */
  schedule: { schedule: string; due?: number | undefined };
  /** Send the deliveries of a webhook that are due. */
  hook: { network: string; hook: number };
}

/** What the queue `schedule` repeats: by a cron pattern in a zone, or every so often from a time on. */
export type Recurring = { schedule: string } & (Cron | { everyMs: number; from: number });

export type QueueName = keyof JobPayloads;

export interface JobRequest<N extends QueueName> {
  /** Deterministic; an existing job with this id stays unchanged. No `:`. */
  id: string;
  payload: JobPayloads[N];
  /** 1 (first) to 1000. */
  priority: number;
  /** The `traceparent` of what wants the job; its spans are inside of that, where traces are on. */
  trace?: string | undefined;
}

export interface Job<N extends QueueName> {
  id: string;
  payload: JobPayloads[N];
  /** When a repeated job was due, in milliseconds since 1970. */
  due?: number | undefined;
  /** 1 on the first try. */
  attempt: number;
  /** Aborted when the worker must stop at once. */
  signal: AbortSignal;
}

export interface WorkOptions<N extends QueueName> {
  /** Jobs at a time; with `groups`, of each group. */
  concurrency: number;
  /**
   * Gives jobs of different groups slots of their own, so that slow ones of a group delay no other. `room`: jobs of a
   * group that this worker has at most, those that wait for a slot here included; more are left to other workers.
   */
  groups?: { of(payload: JobPayloads[N]): string; room: number };
  /** Whether this worker can run a job now; one that it cannot run is left for another worker. Default: all. */
  takes?(payload: JobPayloads[N]): boolean;
}

export interface Worker {
  /** Takes no further job and waits for the running ones; `now` aborts their signals first. */
  close(how?: { now?: boolean }): Promise<void>;
}

/** Jobs of one queue by state; failed ones are removed and counted in packhouse_queue_jobs_total. */
export type JobCounts = Record<'waiting' | 'delayed' | 'active', number>;

/** Ids of running and waiting jobs, at most the requested number of each. */
export interface QueueSnapshot {
  running: string[];
  /** Waiting for a worker, or for the time of their next try. */
  waiting: string[];
}

/**
 * Job queues. Jobs are hints: a lost job is planned again.
 *
 * The ids of completed jobs, and of failed ones after their last try, are free: such jobs are removed at once, or where
 * the option `kept` is set, when a job of the same id is added.
 */
export interface Queues {
  add<N extends QueueName>(queue: N, jobs: readonly JobRequest<N>[]): Promise<void>;
  /**
   * Runs `handler` for each job, at most `concurrency` (of a group) at a time; a throw is retried with back-off, `attempts` in all.
   * After the context's signal is aborted no further job is taken, and one that throws is returned to the queue: it
   * counts as not tried and may be taken at once by another worker.
   */
  work<N extends QueueName>(
    queue: N,
    handler: (job: Job<N>) => Promise<void>,
    options: WorkOptions<N>,
  ): Promise<Worker>;
  /** Ids of all jobs that are waiting, delayed or running. */
  pendingIds(queue: QueueName): Promise<Set<string>>;
  /** Numbers of jobs; the cost does not depend on them. */
  counts(queue: QueueName): Promise<JobCounts>;
  /** Ids of running and of waiting jobs, at most `limit` of each. Changes nothing. */
  peek(queue: QueueName, limit: number): Promise<QueueSnapshot>;
  /** Removes waiting and delayed jobs with these ids; running ones stay. */
  remove(queue: QueueName, ids: readonly string[]): Promise<void>;
  /** Makes what the queue `schedule` repeats exactly this; changes nothing that is so already. */
  repeat(recurring: readonly Recurring[]): Promise<void>;
  close(): Promise<void>;
}
