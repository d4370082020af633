import { createHash } from 'node:crypto';
import { KINDS, type Kind } from '@packhouse/chain';
import { generateChain } from '@packhouse/replay-node';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { canonicalText } from '../chain/canonical.js';
import { fixedChain } from '../chain/fixed-chain.js';
import type { Evidence } from './evidence.js';
import { lakeIsPublished } from './lake-is-published.js';

const blocks = generateChain({ length: 6, txsPerBlock: 3, logsPerTx: 2, tracesPerTx: 1, startNumber: 100 });
const chain = fixedChain(blocks);
const expected = { firstBlock: 100, lastBlock: 105 };

/** Tables of two files each; `change` has the rows of one of them otherwise. */
function evidenceOf(change: (rows: number[]) => number[] = (rows) => rows): Evidence {
  const objects = new Map<string, Buffer>();
  const fileOf = (kind: Kind, from: number, to: number) => {
    const rows: { block: number; name: string | number }[] = [];
    for (let block = from; block <= to; block += 1) {
      const record = JSON.parse(canonicalText(blocks[block - 100] as (typeof blocks)[number], kind));
      for (const item of kind === 'blocks' ? [record] : record) {
        const { hash, logIndex, transactionIndex } = item as Record<string, string>;
        const index = Number((kind === 'logs' ? logIndex : transactionIndex) ?? 0);
        rows.push({ block, name: kind === 'blocks' || kind === 'transactions' ? String(hash) : index });
      }
    }
    const kept = (kind === 'logs' && from === 103 ? change([...rows.keys()]) : [...rows.keys()]).map(
      (at) => rows[at] as (typeof rows)[number],
    );
    const column = { blocks: 'block_hash', transactions: 'transaction_hash', receipts: 'transaction_index' };
    const name = kind === 'logs' ? 'log_index' : (column[kind as 'blocks'] ?? 'trace_type');
    const body = Buffer.from(
      parquetWriteBuffer({
        columnData: [
          { name: 'block_number', data: kept.map(({ block }) => BigInt(block)), type: 'INT64' },
          typeof kept[0]?.name === 'string'
            ? { name, data: kept.map((row) => String(row.name)), type: 'STRING' }
            : { name, data: kept.map((row) => Number(row.name)), type: 'INT32' },
        ],
      }),
    );
    const objectKey = `${kind}/${from}`;
    objects.set(objectKey, body);
    return { objectKey, sha256: createHash('sha256').update(body).digest('hex') };
  };
  const newest = async (kind: Kind) => [fileOf(kind, 100, 102), fileOf(kind, 103, 105)];
  const database = { network: () => ({ lake: { newest } }) } as unknown as Evidence['database'];
  return { database, network: 'main', kinds: KINDS, chain, readObject: (key) => objects.get(key) ?? null };
}
const violations = async (evidence: Evidence): Promise<string[]> =>
  (await lakeIsPublished(evidence, expected)).violations;

test('tables with each row once violate nothing', async () => {
  const { checked, violations: none } = await lakeIsPublished(evidenceOf(), expected);
  expect(none).toEqual([]);
  expect(checked).toBeGreaterThan(50);
});

test('finds a row that is missing, twice, or in another place', async () => {
  for (const change of [
    (rows: number[]) => rows.slice(0, -1),
    (rows: number[]) => [...rows, rows.length - 1],
    (rows: number[]) => [...rows].reverse(),
  ])
    expect(await violations(evidenceOf(change))).toEqual([expect.stringContaining('logs')]);
});

test('finds a data file that is gone, and one with other bytes', async () => {
  const evidence = evidenceOf();
  const readObject = (key: string) =>
    key === 'logs/100' ? null : key === 'traces/103' ? Buffer.from('x') : evidence.readObject(key);
  expect(await violations({ ...evidence, readObject })).toEqual(
    expect.arrayContaining([
      'data file logs/100 is missing',
      'data file traces/103 is another one than its row says',
    ]),
  );
});
