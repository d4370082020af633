import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, freshDatabase, removePostgres, runSql, startPostgres, startRedis } from '@packhouse/local';
import { isAlive } from '@packhouse/runtime';
import { createPostgresBackend, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { inject } from 'vitest';
import { until } from './fixtures.js';

/** A server under test: its address, and ways to change its ingest queue without any checks. */
export interface Server {
  url: { redisUrl: string } | { databaseUrl: string };
  /** Adds a job with any payload. */
  smuggle(prefix: string, id: string, payload: unknown): Promise<void>;
  /** Removes all jobs, running ones included. */
  wipe(prefix: string): Promise<void>;
  /** Pauses the queue, as a dashboard of BullMQ can. */
  pause(prefix: string): Promise<void>;
  isPaused(prefix: string): Promise<boolean>;
  /** How many finished jobs there are. */
  kept(prefix: string): Promise<{ completed?: number; failed?: number }>;
  /** Removes the waiting jobs of the queue `schedule`, not what makes them come back. */
  loseRepeated(prefix: string): Promise<void>;
  stop(): Promise<void>;
}

/** The part of BullMQ's queue that the tests use. */
type RawQueue = Pick<
  Queue,
  'add' | 'pause' | 'resume' | 'isPaused' | 'obliterate' | 'close' | 'getJobCounts'
>;

/** A Redis for one test. */
export async function redisServer(): Promise<Server> {
  const { port, stop, url: redisUrl } = await startRedis();
  return {
    url: { redisUrl },
    stop,
    loseRepeated: async (prefix) => {
      const redis = new Redis(redisUrl);
      const jobs = await redis.zrange(`${prefix}:schedule:delayed`, '0', '-1');
      await redis.del(`${prefix}:schedule:delayed`, ...jobs.map((id) => `${prefix}:schedule:${id}`));
      redis.disconnect();
    },
    ...rawAccess((prefix, use) => closing(new Queue('ingest', { connection: { port }, prefix }), use)),
  };
}

/** A database for one test. */
export async function postgresServer(): Promise<Server> {
  const { url, drop } = await freshDatabase(inject('postgresUrl'));
  return {
    url: { databaseUrl: url },
    stop: drop,
    loseRepeated: async (prefix) =>
      void (await runSql(url, `DELETE FROM bullmq.job WHERE queue = '${prefix}-schedule'`)),
    ...rawAccess(async (prefix, use) => {
      const connection = new pg.Pool({ connectionString: url, options: '-c search_path=bullmq' });
      try {
        return await closing(new Queue(`${prefix}-ingest`, { connection }, createPostgresBackend), use);
      } finally {
        await connection.end();
      }
    }),
  };
}

async function closing<T>(queue: RawQueue, use: (queue: RawQueue) => Promise<T>): Promise<T> {
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}

function rawAccess(
  withQueue: <T>(prefix: string, use: (queue: RawQueue) => Promise<T>) => Promise<T>,
): Pick<Server, 'smuggle' | 'wipe' | 'pause' | 'isPaused' | 'kept'> {
  return {
    smuggle: (prefix, id, payload) =>
      withQueue(prefix, async (queue) => {
        await queue.add('ingest', payload, { jobId: id, priority: 1, removeOnComplete: true });
      }),
    wipe: (prefix) =>
      withQueue(prefix, async (queue) => {
        await queue.obliterate({ force: true });
        await queue.resume();
      }),
    pause: (prefix) => withQueue(prefix, (queue) => queue.pause()),
    kept: (prefix) => withQueue(prefix, (queue) => queue.getJobCounts('completed', 'failed')),
    isPaused: (prefix) => withQueue(prefix, (queue) => queue.isPaused()),
  };
}

/** A server for one test that can be killed and started again at the same address. */
interface MortalServer {
  url: { redisUrl: string } | { databaseUrl: string };
  kill(): Promise<void>;
  revive(): Promise<void>;
  /** Kills it for good. */
  remove(): Promise<void>;
}

/** A Redis without persistence: a kill loses its data. */
export async function mortalRedis(): Promise<MortalServer> {
  const { url: redisUrl, stop, restart } = await startRedis();
  return { url: { redisUrl }, kill: stop, revive: restart, remove: stop };
}

/** A Postgres that recovers from its log when it is started again. */
export async function mortalPostgres(): Promise<MortalServer> {
  const directory = await mkdtemp(join(tmpdir(), 'queue-postgres-'));
  await chmod(directory, 0o755);
  const port = await freePort();
  let server = await startPostgres({ directory, port });
  const kill = async (): Promise<void> => {
    process.kill(server.pid, 'SIGKILL');
    await until(() => {
      if (isAlive(server.pid)) throw new Error('still there');
    });
  };
  return {
    url: { databaseUrl: server.url },
    kill,
    revive: async () => {
      server = await startPostgres({ directory, port });
    },
    remove: async () => {
      await server.stop();
      await removePostgres(directory);
    },
  };
}
