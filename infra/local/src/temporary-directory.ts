import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { removePostgres } from './postgres/home.js';
import type { Scope } from './process/scope.js';

/** Makes a folder that is removed with the scope; a Postgres under `postgres` in it goes too, wherever its data is. */
export async function temporaryDirectory(scope: Scope, name: string): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), `packhouse-${name}-`));
  scope.defer(async () => {
    await removePostgres(path.join(directory, 'postgres'));
    await rm(directory, { recursive: true, force: true });
  });
  // Under root, Postgres runs as another account that has to reach its data.
  await chmod(directory, 0o755);
  return directory;
}
