import { startPostgres } from '@packhouse/local';
import type { Context } from '@packhouse/runtime';
import type { CliIo } from '../io.js';
import type { DataDirectory } from './data-directory.js';
import type { Reporter } from './report.js';

/** The Postgres of DATABASE_URL, or an embedded one under the data folder. */
export async function openPostgres(parts: {
  io: CliIo;
  context: Context;
  directory: DataDirectory;
  reporter: Reporter;
  onClose: (close: () => Promise<unknown> | unknown) => void;
}): Promise<{ url: string }> {
  const { io, context, directory, reporter, onClose } = parts;
  if (io.env.DATABASE_URL) return { url: io.env.DATABASE_URL };
  reporter.say('Starting Postgres …');
  const postgres = await startPostgres({ directory: directory.in('postgres'), logger: context.logger });
  onClose(() => postgres.stop());
  directory.noteDatabase(postgres.url);
  onClose(() => directory.noteDatabase(null));
  return postgres;
}
