import { statfs } from 'node:fs/promises';
import type { LocalPostgres } from '@packhouse/local';
import { describeError, type ErrorCode, isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { databaseUrl, namesDatabase } from '../installation/context.js';
import { requirePackages } from '../installation/packages.js';
import { formatBytes } from '../terminal/format.js';
import type { LocalRun } from './local-run.js';

/** Pause before an embedded server that ended is started again, in milliseconds; longer with each failure. */
const RESTART_MS = 500;
const MAX_RESTART_MS = 10_000;
/** Tries of the first start. */
const MAX_FIRST_STARTS = 3;
/** Tries of a restart: it may be killed while it recovers, or its port may be taken for a moment. */
const MAX_STARTS = 12;
/** Errors that may be over at the next try; a restart waits for a full disk without end. */
const PASSING: readonly ErrorCode[] = ['CHILD_FAILED', 'PORT_IN_USE', 'DISK_FULL'];
/** Tries of a step whose Postgres is being started again. */
const MAX_STEPS = 60;
/** The default of the ingester. */
const MAX_BYTES = 21_474_836_480;
/** With less, fetching would stop and start all the time. */
const MIN_BYTES = 268_435_456;

interface OpenPostgres {
  url: string;
  /** Rejects if an embedded server cannot be started again. */
  failed: Promise<never>;
  /** Runs a step, and repeats it while an embedded server is away. */
  steadily<T>(step: () => Promise<T>): Promise<T>;
}

/**
 * The Postgres of DATABASE_URL, or an embedded one under the data folder.
 *
 * An embedded server that is killed is started again at the same address; acknowledged data is not lost.
 */
export async function openPostgres(run: LocalRun): Promise<OpenPostgres> {
  const { io, context, directory, reporter, onClose } = run;
  const never = new Promise<never>(() => undefined);
  if (namesDatabase(io)) {
    return { url: databaseUrl(io), failed: never, steadily: (step) => step() };
  }
  requirePackages('An embedded Postgres, in place of DATABASE_URL,', ['local']);
  const { startPostgres } = await import('@packhouse/local');
  reporter.step('Starting Postgres …');
  let closing = false;
  const over = (): boolean => closing || io.signal.aborted;
  const pause = (ms: number): Promise<void> => context.clock.sleep(ms, io.signal).catch(() => undefined);

  const startWell = async (most: number, port?: number): Promise<LocalPostgres> => {
    for (let failures = 1; ; failures++) {
      try {
        return await startPostgres({ directory: directory.in('postgres'), logger: context.logger, port });
      } catch (error) {
        const passing = isPackhouseError(error) && PASSING.includes(error.code);
        const patient = passing && most === MAX_STARTS && error.code === 'DISK_FULL';
        if (over() || !passing || (failures >= most && !patient)) throw error;
        reporter.problem('postgres', describeError(error));
        await pause(Math.min(MAX_RESTART_MS, RESTART_MS * failures));
      }
    }
  };

  let server = await startWell(MAX_FIRST_STARTS);
  const { url } = server;
  let starting: Promise<LocalPostgres> | undefined;
  onClose(async () => {
    closing = true;
    await starting?.catch(() => undefined);
    await server.stop();
  });
  directory.noteDatabase(url);
  onClose(() => directory.noteDatabase(null));

  const failed = (async (): Promise<never> => {
    for (;;) {
      await server.ended;
      if (over()) return never;
      reporter.problem('postgres', 'The server ended; restarting it.');
      await pause(RESTART_MS);
      if (over()) return never;
      starting = startWell(MAX_STARTS, Number(new URL(url).port));
      server = await starting;
    }
  })();
  failed.catch((error: PackhouseError) => context.logger.error(describeError(error)));

  const steadily = async <T>(step: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await step();
      } catch (error) {
        if (!isPackhouseError(error, 'DATABASE_UNAVAILABLE') || tries === MAX_STEPS || over()) throw error;
        await pause(RESTART_MS);
      }
    }
  };
  return { url, failed, steadily: (step) => Promise.race([steadily(step), failed]) };
}

/**
 * The limit of staging: STAGING_MAX_BYTES, else half of the free disk if Postgres is embedded; `line` is then the
 * message about it.
 */
export async function stagingLimit(options: {
  env: Readonly<Record<string, string | undefined>>;
  /** The folder of the embedded Postgres; null if Postgres is not embedded. */
  directory: string | null;
}): Promise<{ value: string | undefined; line: string | null }> {
  const given = options.env.STAGING_MAX_BYTES;
  if ((given !== undefined && given !== '') || options.directory === null) {
    return { value: given, line: null };
  }
  const { bavail, bsize } = await statfs(options.directory);
  const bytes = Math.floor(Math.min(MAX_BYTES, Math.max(MIN_BYTES, (bavail * bsize) / 2)));
  return {
    value: String(bytes),
    line: `Staging limit: ${formatBytes(bytes)} of this disk (STAGING_MAX_BYTES); beyond that, fetching is throttled.`,
  };
}
