import { type LocalPostgres, startPostgres } from '@packhouse/local';
import {
  type Context,
  describeError,
  type ErrorCode,
  isPackhouseError,
  type PackhouseError,
} from '@packhouse/runtime';
import type { CliIo } from '../io.js';
import type { DataDirectory } from './data-directory.js';
import type { Reporter } from './report.js';

/** Pause before an embedded server that ended is started again, in milliseconds; longer with each failure. */
const RESTART_MS = 500;
const MAX_RESTART_MS = 10_000;
/** A first start that fails this often is given up: the machine cannot run it. */
const MAX_FIRST_STARTS = 3;
/** One that ran before is given up later: killed again while it recovers, or its port is taken for a moment. */
const MAX_STARTS = 12;
/** What may be over at the next try; a full disk is waited for without end. */
const PASSING: readonly ErrorCode[] = ['CHILD_FAILED', 'PORT_IN_USE', 'DISK_FULL'];
/** Tries of a step whose Postgres is being started again. */
const MAX_STEPS = 60;

/** A Postgres to work on. */
export interface OpenPostgres {
  url: string;
  /** Rejects where an embedded server cannot be started again. */
  failed: Promise<never>;
  /** Runs a step that may be repeated, again and again while an embedded server is away. */
  steadily<T>(step: () => Promise<T>): Promise<T>;
}

/**
 * The Postgres of DATABASE_URL, or an embedded one under the data folder.
 *
 * An embedded server that is killed is started again under the same address; what it had acknowledged is still there.
 */
export async function openPostgres(parts: {
  io: CliIo;
  context: Context;
  directory: DataDirectory;
  reporter: Reporter;
  onClose: (close: () => Promise<unknown> | unknown) => void;
}): Promise<OpenPostgres> {
  const { io, context, directory, reporter, onClose } = parts;
  const never = new Promise<never>(() => undefined);
  if (io.env.DATABASE_URL) {
    return { url: io.env.DATABASE_URL, failed: never, steadily: (step) => step() };
  }
  reporter.say('Starting Postgres …');
  let closing = false;
  const over = (): boolean => closing || io.signal.aborted;
  const pause = (ms: number): Promise<void> => context.clock.sleep(ms, io.signal).catch(() => undefined);

  const startWell = async (most: number, port?: number): Promise<LocalPostgres> => {
    for (let failures = 1; ; failures++) {
      try {
        const options = { directory: directory.in('postgres'), logger: context.logger };
        return await startPostgres(port === undefined ? options : { ...options, port });
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
      reporter.problem('postgres', 'the server ended and is started again');
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
