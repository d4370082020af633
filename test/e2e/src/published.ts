import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { canonicalRecord, KINDS, type Kind } from '@packhouse/chain';
import { type RecordedBlock, sentBy } from '@packhouse/replay-node';
import { expect } from 'vitest';
import { openDatabase } from './open-database.js';
import type { Workspace } from './workspace.js';

/** A block of one kind in canonical form, as it has to be served. */
export function canonical(block: RecordedBlock, kind: Kind): unknown {
  return JSON.parse(canonicalRecord(kind, sentBy(block, kind)));
}

interface CheckPublished {
  /** Unavailable blocks: nothing may cover them. */
  missing?: readonly number[];
  /** The kinds in which they are unavailable; default: all. */
  missingKinds?: readonly Kind[];
  /** Reads an object; default: from the folder `objects` of the workspace. */
  read?: (objectKey: string) => Promise<Buffer>;
}

/**
 * Checks the range index and the objects against what the honest node has: every block of every kind exactly once,
 * content equal in canonical form, sha256 of the bytes as the index says. Returns the keys of the objects.
 */
export async function checkPublished(
  workspace: Pick<Workspace, 'databaseUrl' | 'directory'>,
  chain: Iterable<RecordedBlock>,
  network: string,
  { missing = [], missingKinds = KINDS, read }: CheckPublished = {},
): Promise<string[]> {
  const all = [...chain];
  const had = all.filter((block) => !missing.includes(block.number));
  const readObject = read ?? ((key: string) => readFile(path.join(workspace.directory, 'objects', key)));
  const keys: string[] = [];
  const database = openDatabase(workspace.databaseUrl);
  try {
    for (const kind of KINDS) {
      const blocks = missingKinds.includes(kind) ? had : all;
      const rows = await database.network(network).bundles.list(kind, 0, 10_000);
      const numbers: number[] = [];
      const records: string[] = [];
      for (const row of rows) {
        for (let number = row.firstBlock; number <= row.lastBlock; number++) numbers.push(number);
        const bytes = await readObject(row.objectKey);
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(row.sha256);
        for (const record of JSON.parse(gunzipSync(bytes).toString()) as unknown[])
          records.push(JSON.stringify(record));
        keys.push(row.objectKey);
      }
      expect(numbers, `${kind}: no gap and no overlap`).toEqual(blocks.map((block) => block.number));
      const wrong = blocks.find((block, i) => records[i] !== canonicalRecord(kind, sentBy(block, kind)));
      expect(wrong?.number, `${kind} differs from what the node sent`).toBeUndefined();
    }
  } finally {
    await database.close();
  }
  return keys;
}
