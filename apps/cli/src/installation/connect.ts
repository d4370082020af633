import { createDatabase, type Database } from '@packhouse/database';
import { createRedisLeases } from '@packhouse/node-rpc';
import { createQueueReader, type QueueReader } from '@packhouse/queue';
import { loadSettings, redisUrlSetting } from '@packhouse/runtime';
import { z } from 'zod';
import type { CliIo } from '../terminal/io.js';
import { commandContext, databaseUrl } from './context.js';

const queueSettings = z.object({ REDIS_URL: redisUrlSetting('where the queues are; without it Postgres') });

/** How long a look at the queues may take, in milliseconds. */
const QUEUE_TIMEOUT_MS = 3_000;

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
