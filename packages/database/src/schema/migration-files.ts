import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of numbered SQL files; the same distance from `src` and from `dist`. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../../migrations/', import.meta.url));

const NUMBERED = /^\d{4}_[a-z0-9_]+\.sql$/;

/** The migrations' names (file names without `.sql`) in their order. */
export async function migrationNames(folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => NUMBERED.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

/** Hex SHA-256 of all migrations: the same digest, the same schema. */
export async function migrationsDigest(): Promise<string> {
  const digest = createHash('sha256');
  for (const name of await migrationNames()) {
    digest.update(`${name}\n`).update(await readFile(path.join(MIGRATIONS_FOLDER, `${name}.sql`)));
  }
  return digest.digest('hex');
}
