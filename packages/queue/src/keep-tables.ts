import { runMigrations, SchemaMigrationRequiredError } from 'bullmq';
import type pg from 'pg';

/** Creates the queue's tables again if they are dropped while this process runs. */
export interface TableKeeper {
  /** Stores the names of the tables and functions while all exist. */
  remember(): Promise<void>;
  /** Called after an error; true if something was missing and exists again, so that the statement may be repeated. */
  restore(error: unknown): Promise<boolean>;
}

/** Not BullMQ's advisory lock, which it takes in the transaction that migrates. */
const LOCK = 0x50_4b_51_54;
/** Shortest time between two checks, in milliseconds. */
const PAUSE_MS = 1_000;
/** Undefined table, schema, function, type, column. */
const MISSING = new Set(['42P01', '3F000', '42883', '42704', '42703']);

const NAMES = `
  SELECT 'table ' || relname AS name FROM pg_class WHERE relnamespace = to_regnamespace($1)
  UNION ALL
  SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = to_regnamespace($1)`;

/** Whether a statement failed because something it names does not exist. */
export function saysMissing(error: unknown): boolean {
  if (error instanceof SchemaMigrationRequiredError) return true;
  return error instanceof Error && MISSING.has((error as Error & { code?: string }).code ?? '');
}

/**
 * Creates a keeper. It drops an incomplete schema, because BullMQ's migration table would claim that it is complete;
 * the next plan adds the jobs again.
 */
export function createTableKeeper(parts: {
  pool: pg.Pool;
  schema: string;
  /** Called after the tables were created again. */
  onRestored: (error: Error) => void;
}): TableKeeper {
  const { pool, schema } = parts;
  let expected: string[] = [];
  let running: Promise<boolean> | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const names = async (client: pg.Pool | pg.PoolClient): Promise<string[]> => {
    const { rows } = await client.query<{ name: string }>(NAMES, [schema]);
    return rows.map((row) => row.name);
  };

  const make = async (cause: unknown): Promise<boolean> => {
    const client = await pool.connect();
    let broken = true;
    try {
      await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [LOCK, schema]);
      const there = new Set(await names(client));
      // Another process was faster.
      const whole = there.size > 0 && expected.every((name) => there.has(name));
      if (!whole) {
        await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        await runMigrations(client, schema);
        parts.onRestored(new Error('the tables of the queue were gone and were made again', { cause }));
      }
      await client.query('SELECT pg_advisory_unlock($1, hashtext($2))', [LOCK, schema]);
      broken = false;
      return true;
    } finally {
      // A broken connection releases its lock.
      client.release(broken);
    }
  };

  return {
    async remember() {
      expected = await names(pool);
    },
    async restore(error) {
      if (!saysMissing(error)) return false;
      if (running === undefined) {
        const now = performance.now();
        if (now - triedAt < PAUSE_MS) return false;
        triedAt = now;
        running = make(error)
          .catch(() => false)
          .finally(() => {
            running = undefined;
          });
      }
      return running;
    },
  };
}
