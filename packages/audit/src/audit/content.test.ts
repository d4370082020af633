import type { FragmentInfo } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  auditAndRepair,
  auditWorld,
  getRecords,
  getSuperseded,
  republish,
  rowAt,
} from '../testing/audited.js';
import type { FindingCause } from './finding.js';

const FIRST = 1_000;
const HURT = 1_019;

let world: World;
let undo: (() => Promise<void>) | undefined;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 40) }], { maxBlocks: 16 });
  await world.want(FIRST, FIRST + 39);
  await world.noteHead();
  await world.settle();
});
afterEach(async () => {
  await undo?.();
  undo = undefined;
  expect((await auditWorld(world)).findings).toEqual([]);
});
afterAll(() => world.close());

type Item = Record<string, unknown>;

/** Publishes a bundle of a kind with another record for block HURT. */
async function hurt(
  kind: Kind,
  change: (record: never) => unknown,
  columns: Partial<BundleRow> = {},
): Promise<BundleRow> {
  const row = await rowAt(world, kind, HURT);
  const records = await getRecords(world.objectStore, row);
  const at = HURT - row.firstBlock;
  const changed = change(JSON.parse(records[at] as string) as never);
  records[at] = typeof changed === 'string' ? changed : JSON.stringify(changed);
  const published = await republish(world, row, records, columns);
  undo = published.undo;
  return published.row;
}

describe('an index row and an object that agree, but whose content is wrong', () => {
  const cases: [string, Kind, FindingCause, (record: never) => unknown][] = [
    ['two receipts swapped', 'receipts', 'consistency', (r: Item[]) => [r[1], r[0], ...r.slice(2)]],
    ['a receipt left out', 'receipts', 'consistency', (r: Item[]) => r.slice(1)],
    [
      'a log that never was, in a receipt',
      'receipts',
      'logsBloom',
      ([first, ...rest]: Item[]) => [
        {
          ...first,
          logs: ((first?.logs ?? []) as Item[]).map((log) => ({ ...log, address: `0x${'ab'.repeat(20)}` })),
        },
        ...rest,
      ],
    ],
    ['no receipts at all', 'receipts', 'consistency', () => []],
    [
      'a transaction with another value',
      'transactions',
      'consistency',
      ([tx, ...rest]: Item[]) => [{ ...tx, value: '0x1234' }, ...rest],
    ],
    ['a transaction left out', 'transactions', 'transactionsRoot', (txs: Item[]) => txs.slice(0, -1)],
    [
      'a header field that is not the hashed one',
      'blocks',
      'headerHash',
      (block: Item) => ({ ...block, stateRoot: `0x${'11'.repeat(32)}` }),
    ],
    ['a log left out', 'logs', 'logs', (logs: Item[]) => logs.slice(1)],
    [
      'a log with other data',
      'logs',
      'logs',
      ([log, ...rest]: Item[]) => [{ ...log, data: '0x01' }, ...rest],
    ],
    [
      'the traces of a transaction left out',
      'traces',
      'traces',
      ([first, ...rest]: Item[]) =>
        rest.filter((trace) => trace.transactionPosition !== first?.transactionPosition),
    ],
    [
      'a root trace with another value',
      'traces',
      'traces',
      ([first, ...rest]: Item[]) => [
        { ...first, action: { ...(first?.action as Item), value: '0x77' } },
        ...rest,
      ],
    ],
    [
      'capital letters in a hash',
      'logs',
      'canonical',
      (logs: Item[]) =>
        JSON.stringify(logs).replace(/"data":"0x[0-9a-f]*"/, (data) =>
          data.toUpperCase().replace('"DATA":"0X', '"data":"0x').concat(''),
        ),
    ],
    [
      'space between members',
      'traces',
      'canonical',
      (traces: Item[]) => JSON.stringify(traces).replace(',', ', '),
    ],
    ['a record that is no JSON', 'receipts', 'json', () => '[{"a":}]'],
    [
      'a field left out',
      'receipts',
      'record',
      ([first, ...rest]: Item[]) => [{ ...first, cumulativeGasUsed: undefined }, ...rest],
    ],
  ];
  test.each(cases)('%s (%s) is named as %s', async (_, kind, cause, change) => {
    const row = await hurt(kind, change);
    const { findings } = await auditWorld(world);
    expect(findings).toMatchObject([
      {
        kind,
        from: row.firstBlock,
        to: row.lastBlock,
        version: row.version,
        cause,
        block: HURT,
      },
    ]);
    expect(findings[0]?.message).toMatch(
      new RegExp(`^main ${kind} ${row.firstBlock}-${row.lastBlock}: .*\\b${HURT}\\b.*\\.$`),
    );
  });

  test('is repaired, and keeps the faulty version as superseded', async () => {
    const original = await world.published('receipts');
    const row = await hurt('receipts', (r: Item[]) => [r[1], r[0], ...r.slice(2)]);
    undo = undefined;
    const { outcome } = await auditAndRepair(world);
    expect(outcome).toMatchObject({
      standing: 0,
      repairs: [{ state: 'repaired', version: row.version + 1 }],
    });
    expect(await world.published('receipts')).toEqual(original);
    const superseded = await getSuperseded(world, row);
    expect(superseded.at(-1)).toMatchObject({
      version: row.version,
      reason: expect.stringContaining('receipts'),
    });
  });
});

test('failures in the words of a node, as an earlier release wrote them, are no finding', async () => {
  let changed = 0;
  await hurt('traces', (traces: Item[]) =>
    traces.map((trace) => {
      if (trace.type !== 'call' || trace.error !== undefined || trace.subtraces !== 0) return trace;
      if ((trace.traceAddress as unknown[]).length === 0) return trace;
      changed++;
      return { ...trace, result: null, error: 'out of gas' };
    }),
  );
  expect(changed).toBeGreaterThan(0);
  expect((await auditWorld(world)).findings).toEqual([]);
});

describe('a bundle of other blocks under the key', () => {
  test.each(['blocks', 'transactions', 'receipts', 'logs', 'traces'] as const)('%s', async (kind) => {
    const row = await rowAt(world, kind, HURT);
    const other = await rowAt(world, kind, FIRST);
    const records = (await getRecords(world.objectStore, other)).slice(0, row.lastBlock - row.firstBlock + 1);
    while (records.length < row.lastBlock - row.firstBlock + 1) records.push(records[0] as string);
    ({ undo } = await republish(world, row, records));
    const { findings } = await auditWorld(world);
    const mine = findings.filter((finding) => finding.kind === kind);
    expect(mine.length).toBeGreaterThan(0);
    expect(findings).toEqual(mine);
    expect(findings[0]).toMatchObject({ from: row.firstBlock, block: row.firstBlock });
    expect(findings[0]?.message).toMatch(/of block 1000|foreign/);
  });
});

describe('an object that was published damaged', () => {
  test('with bytes behind the end of the gzip member', async () => {
    const row = await rowAt(world, 'logs', HURT);
    const records = await getRecords(world.objectStore, row);
    ({ undo } = await republish(world, row, records, {
      bytes: (body) => Buffer.concat([body, Buffer.from('garbage')]),
    }));
    const { findings } = await auditWorld(world);
    expect(findings).toMatchObject([{ kind: 'logs', cause: expect.stringMatching(/gzip|fragmentTable/) }]);
    expect(findings[0]?.message).toContain('goes on for 7 bytes behind its end');
  });

  test('with a trailer that is not of its text', async () => {
    const row = await rowAt(world, 'logs', HURT);
    const records = await getRecords(world.objectStore, row);
    ({ undo } = await republish(world, row, records, {
      bytes: (body) => {
        body[body.length - 6] = (body[body.length - 6] as number) ^ 1;
        return body;
      },
    }));
    expect((await auditWorld(world)).findings).toMatchObject([{ kind: 'logs', cause: 'gzip' }]);
  });

  test('with a fragment table that is not of its bytes', async () => {
    const row = await rowAt(world, 'traces', HURT);
    const records = await getRecords(world.objectStore, row);
    const table = ([first, ...rest]: FragmentInfo[]): FragmentInfo[] => [
      { ...(first as FragmentInfo), crc32: 7 },
      ...rest,
    ];
    ({ undo } = await republish(world, row, records, { table }));
    expect((await auditWorld(world)).findings).toMatchObject([{ kind: 'traces', cause: 'fragmentTable' }]);
  });

  test('with a record too many', async () => {
    const row = await rowAt(world, 'logs', HURT);
    const [first, ...rest] = await getRecords(world.objectStore, row);
    ({ undo } = await republish(world, row, [`${first},${first}`, ...rest]));
    const { findings } = await auditWorld(world);
    expect(findings).toMatchObject([{ kind: 'logs', cause: 'recordCount' }]);
    expect(findings[0]?.message).toMatch(/holds 2 records, expected 1/);
  });
});

describe('hashes that do not fit', () => {
  const wrong = `0x${'ee'.repeat(32)}`;

  test('an index row whose first hash is not that of its content', async () => {
    const row = await rowAt(world, 'receipts', HURT);
    ({ undo } = await republish(world, row, await getRecords(world.objectStore, row), { firstHash: wrong }));
    const { findings } = await auditWorld(world);
    expect(findings).toMatchObject([
      { kind: 'receipts', cause: 'blockHash', block: row.firstBlock, got: wrong },
    ]);
    const { outcome } = await auditAndRepair(world);
    expect(outcome).toMatchObject({ standing: 1, repairs: [{ state: 'refused' }] });
    expect(outcome.repairs[0]?.message).toMatch(
      /is not repaired: the nodes give 0x.* Nothing was changed\.$/,
    );
    expect((await world.database.network('main').bundles.covering('receipts', HURT))?.firstHash).toBe(wrong);
  });

  test('a parent link that is broken between two bundles', async () => {
    const row = await rowAt(world, 'logs', HURT);
    const records = await getRecords(world.objectStore, row);
    ({ undo } = await republish(world, row, records, { firstParentHash: wrong }));
    const { findings } = await auditWorld(world);
    expect(findings.map(({ cause }) => cause).sort()).toEqual(['blockHash', 'parentLink']);
    expect(findings.every(({ kind, from }) => kind === 'logs' && from === row.firstBlock)).toBe(true);
  });

  test('of two bundles that do not follow each other the one is named that the nodes do not have', async () => {
    const row = await rowAt(world, 'logs', FIRST);
    const next = await rowAt(world, 'logs', row.lastBlock + 1);
    ({ undo } = await republish(world, row, await getRecords(world.objectStore, row), { lastHash: wrong }));
    const { findings } = await auditWorld(world);
    expect(findings).toHaveLength(2);
    expect(findings).toContainEqual(
      expect.objectContaining({ cause: 'blockHash', from: row.firstBlock, got: wrong }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({ cause: 'parentLink', from: next.firstBlock, expected: wrong }),
    );
    const { outcome } = await auditAndRepair(world);
    expect(outcome.repairs.map(({ state }) => state)).toEqual(['refused', 'refused']);
    const blamed = outcome.repairs.find(({ bundle }) => bundle.firstBlock === next.firstBlock)?.message;
    expect(blamed).toMatch(
      new RegExp(
        `does not follow .*the nodes give 0x.* as block ${row.lastBlock}, the index row of ${row.firstBlock}-${row.lastBlock} ${wrong}\\. Nothing was changed\\.$`,
      ),
    );
    expect(await rowAt(world, 'logs', next.firstBlock)).toEqual(next);
  });
});
