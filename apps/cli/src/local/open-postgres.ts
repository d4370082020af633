import { type LocalPostgres, startPostgres } from '@packhouse/local';
import { type Context, describeError, type PackhouseError } from '@packhouse/runtime';
import type { CliIo } from '../io.js';
import type { DataDirectory } from './data-directory.js';
import type { Reporter } from './report.js';

/** Pause before an embedded server that ended is started again, in milliseconds. */
const RESTART_MS = 500;

/**
 * The Postgres of DATABASE_URL, or an embedded one under the data folder.
 *
 * An embedded server that is killed is started again under the same address; what it had acknowledged is still there.
 * `failed` rejects where it cannot be.
 */
export async function openPostgres(parts: {
  io: CliIo;
  context: Context;
  directory: DataDirectory;
  reporter: Reporter;
  onClose: (close: () => Promise<unknown> | unknown) => void;
}): Promise<{ url: string; failed: Promise<never> }> {
  const { io, context, directory, reporter, onClose } = parts;
  const never = new Promise<never>(() => undefined);
  if (io.env.DATABASE_URL) return { url: io.env.DATABASE_URL, failed: never };
  reporter.say('Starting Postgres …');
  const options = { directory: directory.in('postgres'), logger: context.logger };
  let server = await startPostgres(options);
  const { url } = server;
  let closing = false;
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
      if (closing || io.signal.aborted) return never;
      reporter.problem('postgres', 'the server ended and is started again');
      await context.clock.sleep(RESTART_MS, io.signal).catch(() => undefined);
      if (closing || io.signal.aborted) return never;
      starting = startPostgres({ ...options, port: Number(new URL(url).port) });
      server = await starting;
    }
  })();
  failed.catch((error: PackhouseError) => context.logger.error(describeError(error)));
  return { url, failed };
}
