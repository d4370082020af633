import type { z } from 'zod';
import { systemClock } from './clock.js';
import type { Context } from './context.js';
import { describeError, PackhouseError } from './errors.js';
import { createLogger, type LogLevel } from './logger.js';
import { createMetrics } from './metrics.js';
import { redact } from './redact.js';
import { loadSettings, type SettingsSchema } from './settings.js';
import { createShutdown, type Shutdown } from './shutdown.js';

/** What a supervised process tells its supervisor. */
export type ProcessMessage =
  | { type: 'listening'; port: number }
  | { type: 'ready' }
  | { type: 'problem'; code: string; message: string }
  | { type: 'fatal'; code: string; message: string; exitCode: number };

export interface ProcessParts<S extends SettingsSchema> {
  settings: Readonly<z.infer<S>>;
  context: Context;
  shutdown: Shutdown;
  /** Tells the supervisor, where there is one. */
  notify(message: ProcessMessage): void;
}

/** Exit code of a process that could not drain in time: start it again. */
const NOT_DRAINED = 75;

/**
 * Runs a process: settings, context, `start`, then waits for SIGTERM, SIGINT or the end of its supervisor, and drains.
 *
 * A supervised process (one with an IPC channel) leaves SIGINT to its supervisor, which gets it too. An error is one
 * line on stderr and the exit code of the catalogue.
 */
export async function runProcess<S extends SettingsSchema>(
  host: NodeJS.Process,
  options: { name: string; settings: S; start(parts: ProcessParts<S>): Promise<void> },
): Promise<void> {
  const supervised = host.send !== undefined;
  const notify = (message: ProcessMessage): void => {
    if (supervised && host.connected) host.send?.(message, undefined, undefined, () => undefined);
  };
  const fail = (error: unknown): never => {
    const known = error instanceof PackhouseError;
    const exitCode = known ? error.exitCode : 70;
    const message = redact(describeError(error));
    notify({ type: 'fatal', code: known ? error.code : 'INTERNAL', message, exitCode });
    host.stderr.write(`packhouse ${options.name}: ${message}\n`);
    return host.exit(exitCode);
  };
  try {
    const settings = loadSettings(options.settings, host.env);
    const level = (settings as { LOG_LEVEL?: LogLevel }).LOG_LEVEL;
    const logger = createLogger({ name: options.name, ...(level === undefined ? {} : { level }) });
    const shutdown = createShutdown({ logger });
    const context = { logger, metrics: createMetrics(), clock: systemClock, signal: shutdown.signal };
    const drain = async (reason: string): Promise<void> => {
      const { clean } = await shutdown.run(reason);
      host.exit(clean ? 0 : NOT_DRAINED);
    };
    host.on('SIGTERM', () => void drain('SIGTERM'));
    host.on('SIGINT', () => (supervised ? undefined : void drain('SIGINT')));
    host.on('disconnect', () => void drain('the supervisor is gone'));
    host.on('unhandledRejection', (error) => {
      logger.fatal({ err: error }, 'unhandled rejection');
      fail(error);
    });
    host.on('uncaughtException', (error) => {
      logger.fatal({ err: error }, 'uncaught exception');
      fail(error);
    });
    await options.start({ settings, context, shutdown, notify });
    notify({ type: 'ready' });
  } catch (error) {
    fail(error);
  }
}
