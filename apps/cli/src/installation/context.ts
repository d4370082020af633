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
import type { CliIo } from '../terminal/io.js';
import { runningDatabaseUrl } from './data-directory.js';

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
