import { createHash } from 'node:crypto';
import type { Sighting } from '../watch/watcher.js';
import { ALL_ROWS, type Evidence } from './evidence.js';
import { createFindings, type Verdict } from './verdict.js';

/** Invariant 3: every bundle that was ever seen is still in the index, and its object is what it was at first sight. */
export async function bytesNeverChange(
  { database, network, kinds, readObject }: Evidence,
  sightings: readonly Sighting[],
): Promise<Verdict> {
  const findings = createFindings(3, 'published bytes never change');
  const rows = new Map<string, string>();
  for (const kind of kinds)
    for (const row of await database.network(network).bundles.list(kind, 0, ALL_ROWS))
      rows.set(row.objectKey, row.sha256);
  for (const { row, objectSha256 } of sightings) {
    findings.looked();
    const { objectKey, sha256 } = row;
    if (objectSha256 !== sha256)
      findings.violated(
        `${objectKey} was ${objectSha256 ?? 'absent'} when its row, ${sha256}, was first seen`,
      );
    if (rows.get(objectKey) !== sha256)
      findings.violated(
        `the row of ${objectKey} said ${sha256} and says ${rows.get(objectKey) ?? 'nothing'} now`,
      );
    const body = await readObject(objectKey);
    const now = body === null ? 'absent' : createHash('sha256').update(body).digest('hex');
    if (now !== sha256) findings.violated(`${objectKey} was ${sha256} and is ${now} now`);
  }
  return findings.verdict();
}
