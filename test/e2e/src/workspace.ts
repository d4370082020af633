import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freshDatabase, type Program, removePostgres } from '@packhouse/local';

/** A folder and a database of a test's own. */
export interface Workspace {
  directory: string;
  databaseUrl: string;
  /** Environment for `startCli`: this database, and objects in this folder. */
  env: Record<string, string>;
  remove(): Promise<void>;
}

/** Makes a workspace on the test server. */
export async function makeWorkspace(
  postgresUrl: string,
  { migrated = false }: { migrated?: boolean } = {},
): Promise<Workspace> {
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-e2e-'));
  const database = await freshDatabase(postgresUrl, { migrated });
  return {
    directory,
    databaseUrl: database.url,
    env: { DATABASE_URL: database.url },
    async remove() {
      await database.drop();
      // An embedded one may have to live elsewhere.
      await removePostgres(path.join(directory, 'postgres'));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Ends a process that may still run, and waits until it is gone. */
export async function end(cli: Program | undefined): Promise<void> {
  if (cli === undefined) return;
  cli.child.kill('SIGTERM');
  await cli.exit;
}
