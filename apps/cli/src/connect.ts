import { createDatabase, type Database } from '@packhouse/database';
import {
  type Context,
  createLogger,
  createMetrics,
  databaseUrlSetting,
  loadSettings,
  logLevelSetting,
  systemClock,
} from '@packhouse/runtime';
import { z } from 'zod';
import type { CliIo } from './io.js';
import { runningDatabaseUrl } from './local/data-directory.js';

const logSettings = z.object({ LOG_LEVEL: logLevelSetting().prefault('silent') });
const databaseSettings = z.object({
  DATABASE_URL: databaseUrlSetting(', or a running `packhouse local` in this folder'),
});

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

/** The database address: DATABASE_URL, else that of a `packhouse local` that runs on this data folder. */
export function databaseUrl(io: CliIo, dataDir?: string): string {
  const env = { ...io.env };
  // An empty variable counts as absent, here as everywhere.
  env.DATABASE_URL ||= runningDatabaseUrl(io.cwd, dataDir);
  return loadSettings(databaseSettings, env).DATABASE_URL;
}

/** Runs `use` with an open, checked database, and closes it. */
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
