import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { canonicalRecord, KINDS, type Kind } from '@packhouse/chain';
import { createDatabase } from '@packhouse/database';
import type { RecordedBlock } from '@packhouse/replay-node';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { expect } from 'vitest';
import type { Workspace } from './workspace.js';

/** What the node sent of one kind for a block. */
export function sentBy(block: RecordedBlock, kind: Kind): unknown {
  switch (kind) {
    case 'blocks':
      return block.block;
    case 'transactions':
      return (block.block as { transactions: unknown[] }).transactions;
    case 'receipts':
      return block.receipts;
    case 'logs':
      return (block.receipts as { logs: unknown[] }[]).flatMap((receipt) => receipt.logs);
    case 'traces':
      return block.traces;
  }
}

/**
 * Checks the range index and the objects against what the honest node has: every block of every kind exactly once,
 * content equal in canonical form, sha256 of the bytes as the index says.
 */
export async function checkPublished(
  workspace: Workspace,
  chain: Iterable<RecordedBlock>,
  network: string,
): Promise<void> {
  const blocks = [...chain];
  const first = (blocks[0] as RecordedBlock).number;
  const database = createDatabase({
    connectionString: workspace.databaseUrl,
    context: {
      logger: createLogger({ name: 'test', level: 'silent' }),
      metrics: createMetrics(),
      clock: systemClock,
      signal: new AbortController().signal,
    },
    applicationName: 'test',
  });
  try {
    for (const kind of KINDS) {
      const rows = await database.bundles.list(network, kind, 0, 10_000);
      const records: string[] = [];
      let next = first;
      for (const row of rows) {
        expect(row.start, `${kind}: no gap and no overlap`).toBe(next);
        next = row.end + 1;
        const bytes = await readFile(path.join(workspace.directory, 'objects', row.objectKey));
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(row.sha256);
        for (const record of JSON.parse(gunzipSync(bytes).toString()) as unknown[])
          records.push(JSON.stringify(record));
      }
      expect(next).toBe(first + blocks.length);
      const wrong = blocks.find((block, i) => records[i] !== canonicalRecord(kind, sentBy(block, kind)));
      expect(wrong?.number, `${kind} differs from what the node sent`).toBeUndefined();
    }
  } finally {
    await database.close();
  }
}
