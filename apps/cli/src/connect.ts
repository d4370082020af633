import { createDatabase, type Database } from '@packhouse/database';
import {
  type Context,
  createLogger,
  createMetrics,
  type LogLevel,
  loadSettings,
  systemClock,
} from '@packhouse/runtime';
import { z } from 'zod';
import type { CliIo } from './io.js';
import { runningDatabaseUrl } from './local/data-directory.js';

const settings = z.object({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//)
    .describe(
      'a Postgres address, e.g. postgres://user:password@host:5432/packhouse, or a running `packhouse local` in this folder',
    ),
});

/** The context of a command: quiet unless LOG_LEVEL says otherwise. */
export function commandContext(io: CliIo): Context {
  const level = (io.env.LOG_LEVEL ?? 'silent') as LogLevel;
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
  env.DATABASE_URL ??= runningDatabaseUrl(io.cwd, dataDir);
  return loadSettings(settings, env).DATABASE_URL;
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
