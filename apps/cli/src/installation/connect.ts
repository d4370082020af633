import { createDatabase, type Database } from '@packhouse/database';
import { createRedisLeases } from '@packhouse/node-rpc';
import { createQueueReader, type QueueReader } from '@packhouse/queue';
import {
  type Context,
  createLogger,
  createMetrics,
  databaseUrlSetting,
  loadSettings,
  logLevelSetting,
  redisUrlSetting,
  systemClock,
} from '@packhouse/runtime';
import { z } from 'zod';
import type { CliIo } from '../terminal/io.js';
import { runningDatabaseUrl } from './data-directory.js';

const logSettings = z.object({ LOG_LEVEL: logLevelSetting().prefault('silent') });
const databaseSettings = z.object({
  DATABASE_URL: databaseUrlSetting(', or a running `packhouse local` in this folder'),
});
const queueSettings = z.object({ REDIS_URL: redisUrlSetting('where the queues are; without it Postgres') });

/** How long a look at the queues may take, in milliseconds. */
const QUEUE_TIMEOUT_MS = 3_000;

/** The context of a command: quiet unless LOG_LEVEL says otherwise. Throws SETTINGS_INVALID. */
export function commandContext(io: CliIo): Context {
  const level = loadSettings(logSettings, io.env).LOG_LEVEL;
  return {
    logger: createLogger({ name: 'packhouse', level }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: io.signal,
  };
}

/** Whether the environment names a database, by its address or the file with it. */
export function namesDatabase({ env }: Pick<CliIo, 'env'>): boolean {
  return Boolean(env.DATABASE_URL || env.DATABASE_URL_FILE);
}

/** DATABASE_URL, else the address of the `packhouse local` that runs on this data folder. */
export function databaseUrl(io: CliIo, dataDir?: string): string {
  const env = { ...io.env };
  if (!namesDatabase(io)) env.DATABASE_URL = runningDatabaseUrl(io.cwd, dataDir);
  return loadSettings(databaseSettings, env).DATABASE_URL;
}

/** Runs `use` with an open database whose schema was checked, and closes it. */
export async function withDatabase<T>(
  io: CliIo,
  options: { dataDir?: string },
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = createDatabase({
    connectionString: databaseUrl(io, options.dataDir),
    context: commandContext(io),
    poolSize: 2,
    applicationName: 'packhouse cli',
  });
  try {
    await database.checkSchema();
    return await use(database);
  } finally {
    await database.close();
  }
}

/** A reader of the queues, which connects on first use. Throws SETTINGS_INVALID. */
export function openQueueReader(io: CliIo, { dataDir }: { dataDir?: string }): QueueReader {
  return createQueueReader({
    context: commandContext(io),
    redisUrl: loadSettings(queueSettings, io.env).REDIS_URL,
    databaseUrl: databaseUrl(io, dataDir),
    timeoutMs: QUEUE_TIMEOUT_MS,
  });
}

/** The store on Redis where processes share what was taken of budgets; undefined: it is Postgres. Throws SETTINGS_INVALID. */
export function openLeases(io: CliIo): ReturnType<typeof createRedisLeases> | undefined {
  const { REDIS_URL } = loadSettings(queueSettings, io.env);
  return REDIS_URL === undefined ? undefined : createRedisLeases(REDIS_URL);
}
