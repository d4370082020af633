import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Database, WorkerHeartbeat } from '@packhouse/database';
import type { NetworksWatch } from '@packhouse/networks';
import type { Job, QueueName, Queues, Worker } from '@packhouse/queue';
import { type Context, openScope, repeat } from '@packhouse/runtime';
import { windowsToKeep } from '../plan/plan.js';

/** The queues of the workers that operators see. */
type TakenQueue = Exclude<QueueName, 'schedule' | 'hook'>;

interface TakeJobsParts<N extends TakenQueue> {
  context: Context;
  database: Database;
  queues: Queues;
  queue: N;
  role: WorkerHeartbeat['role'];
  pid: number;
  /** Ids of the networks whose jobs are taken now; those of others are left for another process. */
  networks(): readonly string[];
  /** Of the networks file, for the heartbeat. */
  file: Pick<NetworksWatch, 'digest' | 'problem'>;
  /** Jobs at a time; of ingest jobs, which wait for nodes, so many of each network. */
  concurrency: number;
  handler(job: Job<N>): Promise<void>;
  /** Of a packer: whether it has an SMTP server. */
  sendsMail?: boolean;
}

/** Time between two heartbeats, in milliseconds; a process counts as alive for three of them. */
const HEARTBEAT_EVERY_MS = 5_000;

/**
 * Takes the jobs of a queue, and reports to the database every few seconds that this process is running and what it does; while
 * an operator drains it, it takes none. `close` finishes the running jobs.
 */
export async function takeJobs<N extends TakenQueue>(parts: TakeJobsParts<N>): Promise<Worker> {
  const { context, database, queues, queue, concurrency } = parts;
  const scope = openScope(context.signal);
  const id = randomUUID();
  const host = hostname();
  /** With the time each began, by `elapsed`. */
  const running = new Map<Job<N>, number>();
  const handler = async (job: Job<N>): Promise<void> => {
    running.set(job, context.clock.elapsed());
    try {
      await parts.handler(job);
    } finally {
      running.delete(job);
    }
  };
  const takes = ({ network }: Job<N>['payload']): boolean => parts.networks().includes(network);
  const groups = { of: ({ network }: Job<N>['payload']) => network, room: windowsToKeep(concurrency) };
  const options = { concurrency, takes, ...(queue === 'ingest' && { groups }) };
  let worker: Worker | null = await queues.work(queue, handler, options);

  const heartbeat = async (): Promise<void> => {
    const { draining } = await database.workers.heartbeat({
      id,
      host,
      role: parts.role,
      pid: parts.pid,
      networks: parts.networks(),
      slots: concurrency,
      networksDigest: parts.file.digest(),
      networksProblem: parts.file.problem(),
      sendsMail: parts.sendsMail ?? null,
      jobs: [...running].map(([{ id: job }, began]) => ({
        job,
        seconds: Math.round((context.clock.elapsed() - began) / 1_000),
      })),
    });
    if (draining && worker !== null) {
      context.logger.info({ worker: id }, 'draining: no further job is taken');
      const drained = worker;
      worker = null;
      // Its jobs may take minutes, and heartbeats go on meanwhile.
      closing = drained.close();
    }
    if (!draining && worker === null && !scope.signal.aborted) {
      await closing;
      worker = await queues.work(queue, handler, options);
      context.logger.info({ worker: id }, 'jobs are taken again');
    }
  };
  let closing: Promise<void> | undefined;
  const heartbeats = repeat(
    { ...context, signal: scope.signal },
    { everyMs: HEARTBEAT_EVERY_MS, failed: 'the heartbeat could not be written' },
    heartbeat,
  );

  return {
    async close(how) {
      scope.abort(new Error('the worker is closed'));
      await heartbeats;
      await Promise.all([worker?.close(how), closing]);
      await database.workers.leave(id).catch(() => undefined);
    },
  };
}
