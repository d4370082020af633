import { freshDatabase, startRedis } from '@packhouse/local';
import { Queue } from 'bullmq';
import pg from 'pg';
import { inject } from 'vitest';

/** A server under test: where it is, and how to look behind the port's back. */
export interface Server {
  url: { redisUrl: string } | { databaseUrl: string };
  /** Puts a job with any payload into the ingest queue, past all checks. */
  smuggle(prefix: string, id: string, payload: unknown): Promise<void>;
  /** Leaves the queue as a wipe does that is killed half way. */
  pause(prefix: string): Promise<void>;
  isPaused(prefix: string): Promise<boolean>;
  stop(): Promise<void>;
}

/** A Redis of the test's own. */
export async function redisServer(): Promise<Server> {
  const { port, stop, url: redisUrl } = await startRedis();
  return {
    url: { redisUrl },
    smuggle: async (prefix, id, payload) => {
      const queue = new Queue('ingest', { connection: { port }, prefix });
      await queue.add('ingest', payload, { jobId: id, priority: 1, removeOnComplete: true });
      await queue.close();
    },
    pause: async (prefix) => {
      const queue = new Queue('ingest', { connection: { port }, prefix });
      await queue.pause();
      await queue.close();
    },
    isPaused: async (prefix) => {
      const queue = new Queue('ingest', { connection: { port }, prefix });
      const paused = await queue.isPaused();
      await queue.close();
      return paused;
    },
    stop,
  };
}

/** A database of the test's own. */
export async function postgresServer(): Promise<Server> {
  const { url, drop } = await freshDatabase(inject('postgresUrl'));
  return {
    url: { databaseUrl: url },
    smuggle: async (prefix, id, payload) => {
      const client = new pg.Client({ connectionString: url, options: '-c search_path=bullmq' });
      await client.connect();
      const queue = `${prefix}-ingest`;
      await client.query(
        `INSERT INTO job (queue, id, seq, name, state, data, opts, priority, max_attempts, added_at_ms, pending_deps)
         VALUES ($1, $2, nextval('job_seq'), 'ingest', 'waiting', $3, '{"removeOnComplete":true}', 1, 1, 1, 0)`,
        [queue, id, JSON.stringify(payload)],
      );
      await client.query(`SELECT pg_notify('bullmq_jobs', $1)`, [queue]);
      await client.end();
    },
    pause: async (prefix) => {
      const client = new pg.Client({ connectionString: url, options: '-c search_path=bullmq' });
      await client.connect();
      await client.query('SELECT pause($1, true)', [`${prefix}-ingest`]);
      await client.end();
    },
    isPaused: async (prefix) => {
      const client = new pg.Client({ connectionString: url, options: '-c search_path=bullmq' });
      await client.connect();
      const { rows } = await client.query(`SELECT FROM meta WHERE queue = $1 AND field = 'paused'`, [
        `${prefix}-ingest`,
      ]);
      await client.end();
      return rows.length === 1;
    },
    stop: drop,
  };
}
