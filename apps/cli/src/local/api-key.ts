import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { Database } from '@packhouse/database';

/**
 * The key that `packhouse local` prints: the one of the last start where it is still good, else a new one. It is kept
 * in the data folder, readable by the owner only, so that a second start prints the same lines.
 */
export async function localApiKey(database: Database, file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
  if (kept !== null) {
    const row = await database.keys.find(createHash('sha256').update(kept).digest());
    if (row !== null && row.revokedAt === null) return kept;
  }
  const { key } = await database.keys.create({ application: 'local', network: null, plan: 'unlimited' });
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}
