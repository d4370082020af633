import { describeError, PackhouseError, redact } from '@packhouse/runtime';
import type { Queue, Telemetry } from 'bullmq';
import type { Job, JobCounts, JobRequest, QueueName, QueueSnapshot, Recurring } from './queues.js';

/** Options for storing, retrying and recovering jobs; the same for every store. */
export interface BackendOptions {
  /** Namespace of all keys, so that several installations share a server. */
  prefix: string;
  /** How long a worker keeps a job without renewing its lock, in milliseconds. */
  lockMs: number;
  /** How often a job may lose its worker before it fails. */
  maxStalled: number;
  /** Finished jobs that each queue keeps for dashboards. */
  kept: number;
  /** Spans of adding and running jobs. */
  telemetry?: Telemetry | undefined;
  /** Only reads: creates no tables, writes nothing. */
  readOnly?: boolean;
  /** Called with every connection error; the backend reconnects by itself. */
  onError: (error: Error) => void;
}

/** One job as the store returns it: the payload is unchecked. */
export interface TakenJob extends Omit<Job<QueueName>, 'payload' | 'signal'> {
  payload: unknown;
  /** Most tries. */
  attempts: number;
}

export interface NewJob extends JobRequest<QueueName> {
  attempts: number;
  /** The first pause before a retry, in milliseconds; doubled each time, half of it random. */
  backoffMs: number;
}

/** The producer of one queue. */
export interface Producer {
  /** BullMQ's own, for boards. */
  readonly bull: Queue;
  addAll(jobs: readonly NewJob[]): Promise<void>;
  pendingIds(): Promise<string[]>;
  counts(): Promise<JobCounts>;
  peek(limit: number): Promise<QueueSnapshot>;
  remove(ids: readonly string[]): Promise<void>;
  repeat(recurring: readonly Recurring[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * The result of a job that did not fail: it is done, goes back to be taken at once by another worker, is delayed for a
 * while, or, if the worker has no room for it, for a moment. Only a throw counts as a failed try.
 */
export type JobOutcome = 'done' | 'given-back' | 'left' | 'no-room';

/** The consumer of one queue. */
export interface Consumer {
  /** Waits for the running jobs, then disconnects. */
  close(): Promise<void>;
}

export interface ConsumerEvents {
  run: (job: TakenJob) => Promise<JobOutcome>;
  /** Called with running jobs that this process lost the locks of. */
  lost: (ids: readonly string[]) => void;
  /** Called when a job came back because its worker died. */
  stalled: (id: string) => void;
}

/** A store of jobs. */
export interface Backend {
  /** For the log; no credentials. */
  readonly address: string;
  producer(queue: QueueName): Promise<Producer>;
  consumer(queue: QueueName, concurrency: number, events: ConsumerEvents): Promise<Consumer>;
  close(): Promise<void>;
}

/** The host, port and database of a connection string: no user, no password, no query. */
export function toAddress(url: string): string {
  const [, scheme, hosts, path] = /^([a-z+]+:\/\/)(?:[^@/?#]*@)?([^@/?#]*)([^?#]*)/.exec(url) ?? [];
  return scheme === undefined ? 'an address that is no URL' : `${scheme}${hosts}${path}`;
}

/** The error for a server that does not answer. */
export function queueUnavailable(
  what: 'Redis' | 'Postgres',
  address: string,
  cause: unknown,
): PackhouseError {
  const reason = redact(describeError(cause)).replace(/\.+$/, '');
  return new PackhouseError({
    code: 'QUEUE_UNAVAILABLE',
    message: `The queue on ${what} at ${address} cannot be used: ${reason}.`,
    hint: `Start ${what} or correct ${what === 'Redis' ? 'REDIS_URL' : 'DATABASE_URL'}.`,
    data: { address },
    cause,
  });
}
