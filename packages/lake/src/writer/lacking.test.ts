import {
  type BlockRange,
  KINDS,
  type Kind,
  rangesInclude,
  type TableName,
  unionRanges,
} from '@packhouse/chain';
import type { LakeFile } from '@packhouse/database';
import { ingest } from '@packhouse/pipeline';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { CLONE } from '@packhouse/recordings';
import type { FaultRule, RecordedBlock } from '@packhouse/replay-node';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { readTable, type TableRow } from '../testing/read-table.js';
import { createLakeWriter } from './lake-writer.js';

const FIRST = 1_004;
const LENGTH = 28;
const LAST = FIRST + LENGTH - 1;
/** Of a row of made blocks with tokens. */
const [WITHOUT_RECEIPTS, WITHOUT_TRACES] = [17_686_112, 17_686_115];
const GRID = { sizes: [20, 10, 5], larger: [], maxBytes: 10_000_000, maxBundleBytes: 10_000_000 };
const EVERYTHING = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };
const ALL_BLOCKS = Array.from({ length: LENGTH }, (_, at) => FIRST + at);
/** By table, the kinds that it can be without. */
const BESIDE: [TableName, Kind, Kind[]][] = [
  ['transactions', 'transactions', ['receipts']],
  ['transfers', 'logs', ['traces', 'blocks']],
];

let world: World;
afterEach(() => world.close());

const begin = async (
  blocks: RecordedBlock[] = chainFrom(FIRST, LENGTH),
  faults: readonly FaultRule[] = [],
): Promise<void> => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks, faults }], { maxBlocks: 7 });
  await world.noteHead();
};
const data = () => world.database.network('main');
/** As after a start: what is published is compared with the tables. */
const write = (): Promise<boolean> =>
  createLakeWriter({ ...world, networks: () => [world.network], grid: GRID }).run(world.context.signal);
const filesOf = (table: TableName): Promise<LakeFile[]> => data().lake.newest(table, EVERYTHING);
const rowsOf = (table: TableName): Promise<TableRow[]> => readTable(world.objectStore, data().lake, table);
const blocksOf = (ranges: readonly BlockRange[]): number[] =>
  ranges.flatMap(({ firstBlock, lastBlock }) =>
    Array.from({ length: lastBlock - firstBlock + 1 }, (_, at) => firstBlock + at),
  );
const lackingOf = async (table: TableName, kind: Kind): Promise<number[]> =>
  blocksOf(unionRanges((await filesOf(table)).flatMap(({ lacks }) => lacks[kind] ?? [])));
/** Blocks that are staged together do not cross this one. */
const BORDER = 1_024;
const fetched = async (kinds: readonly Kind[], firstBlock: number, lastBlock: number): Promise<void> => {
  const halves = [
    { firstBlock, lastBlock: Math.min(lastBlock, BORDER - 1) },
    { firstBlock: Math.max(firstBlock, BORDER), lastBlock },
  ];
  for (const half of halves)
    if (half.firstBlock <= half.lastBlock)
      await ingest(world.parts, { ...half, kinds }, world.context.signal);
};
const quarantine = (kind: Kind, firstBlock: number, lastBlock: number): Promise<unknown> =>
  data().quarantine.put({
    firstBlock,
    lastBlock,
    kinds: [kind],
    cause: 'RECEIPTS_MISSING',
    message: 'No node has them.',
    upstream: null,
    payloadDigest: null,
  });

describe('a block of which a kind is not published', () => {
  it('has its transactions without receipts and its token transfers without traces, and says so', async () => {
    const refuse = (block: number, ...methods: string[]): FaultRule[] =>
      methods.map((method) => ({
        when: { method, block },
        do: 'rpcError',
        code: -32_000,
        message: 'unknown',
      }));
    await begin(CLONE.blocks<RecordedBlock>('row'), [
      ...refuse(WITHOUT_RECEIPTS, 'eth_getBlockReceipts', 'eth_getTransactionReceipt'),
      ...refuse(WITHOUT_TRACES, 'trace_block', 'debug_traceBlockByHash'),
    ]);
    await world.want(17_686_110, 17_686_121);
    await world.settle();
    await write();

    const transactions = await rowsOf('transactions');
    const published = await world.published('transactions');
    const counts = [...published].map(([block, records]) => [block, (JSON.parse(records) as []).length]);
    for (const [block, count] of counts)
      expect(
        transactions.filter(({ block_number }) => Number(block_number) === block),
        `${block}`,
      ).toHaveLength(count as number);
    for (const { block_number, gas_used, status } of transactions)
      expect([gas_used === null, status === null], `${block_number}`).toEqual(
        Array(2).fill(Number(block_number) === WITHOUT_RECEIPTS),
      );
    expect(await lackingOf('transactions', 'receipts')).toEqual([WITHOUT_RECEIPTS]);

    const transfers = await rowsOf('transfers');
    const at = (source: string) =>
      transfers.filter((row) => Number(row.block_number) === WITHOUT_TRACES && row.source === source);
    expect(at('log').length).toBeGreaterThan(0);
    expect(at('trace')).toEqual([]);
    expect(await lackingOf('transfers', 'traces')).toEqual([WITHOUT_TRACES]);

    world.nodes[0]?.faults.clear();
    await data().quarantine.retry(EVERYTHING);
    await world.settle();
    await write();
    expect((await rowsOf('transactions')).filter(({ gas_used }) => gas_used === null)).toEqual([]);
    for (const [table, , kinds] of BESIDE)
      for (const kind of kinds) expect(await lackingOf(table, kind)).toEqual([]);
  });

  it('waits for what is being fetched, and for no more once that is quarantined or cancelled', async () => {
    await begin();
    await world.want(FIRST, LAST);
    await fetched(['transactions'], FIRST, LAST);
    await world.packAll();
    await write();
    expect(await rowsOf('transactions')).toEqual([]);
    await quarantine('receipts', FIRST, 1_013);
    await write();
    const blocks = async () => new Set((await rowsOf('transactions')).map((row) => Number(row.block_number)));
    expect(await blocks()).toEqual(new Set(ALL_BLOCKS.filter((block) => block <= 1_013)));
    const [backfill] = await data().backfills.list();
    await world.database.backfills.change(backfill?.id as number, { state: 'cancelled' });
    await write();
    expect(await blocks()).toEqual(new Set(ALL_BLOCKS));
  });

  it('keeps the rows that it has while a kind arrives, and is written again once for all of a file', async () => {
    await begin();
    await data().backfills.add({ kinds: ['transactions'], from: FIRST, to: LAST, priority: 1 });
    await world.settle();
    await write();
    const before = await filesOf('transactions');
    expect(await lackingOf('transactions', 'receipts')).toEqual(ALL_BLOCKS);
    await world.want(FIRST, LAST);
    await fetched(['receipts'], FIRST, 1_014);
    await world.packAll();
    await write();
    // Of the file of blocks 1,010 to 1,019 the first have receipts now.
    const objects = (files: readonly LakeFile[], from: number): string[] =>
      files.filter(({ firstBlock }) => firstBlock >= from).map(({ objectKey }) => objectKey);
    expect(objects(await filesOf('transactions'), 1_010)).toEqual(objects(before, 1_010));
    expect(await lackingOf('transactions', 'receipts')).toEqual(ALL_BLOCKS.filter((block) => block >= 1_010));
    await fetched(['receipts'], 1_015, LAST);
    await world.packAll();
    await write();
    expect(await lackingOf('transactions', 'receipts')).toEqual([]);
  });
});

/** Orders of events: a few always, many at night. */
const SEEDS = process.env.SEEDS === 'many' ? 100 : 2;

it.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
  'claims nothing that it does not have, and takes out no block, in any order of events (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    const random = createRandom(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    await begin();
    await world.want(FIRST, LAST);
    const had = new Map<TableName, Set<number>>();
    for (let step = 0; step < 10; step += 1) {
      const from = FIRST + 4 * Math.floor(random() * 4);
      const to = Math.min(LAST, from + 7 * (1 + Math.floor(random() * 4)) - 1);
      if (random() < 0.3) await quarantine(pick(['receipts', 'traces', 'blocks'] as const), from, to);
      else await fetched(pick([KINDS, KINDS.filter((kind) => kind !== 'receipts'), [pick(KINDS)]]), from, to);
      await world.packAll();
      await write();
      for (const [table, first, kinds] of BESIDE) await checkTable(table, first, kinds, had);
    }
    await data().quarantine.retry(EVERYTHING);
    await world.settle();
    await write();
    for (const [table, first, kinds] of BESIDE) {
      await checkTable(table, first, kinds, had);
      for (const kind of kinds) expect(await lackingOf(table, kind)).toEqual([]);
    }
  },
);

/** Compares a table with what is published, staged and quarantined. */
async function checkTable(
  table: TableName,
  first: Kind,
  kinds: readonly Kind[],
  had: Map<TableName, Set<number>>,
): Promise<void> {
  const files = await filesOf(table);
  const blocks = new Set(blocksOf(unionRanges(files)));
  const before = had.get(table) ?? new Set();
  expect([...before].filter((block) => !blocks.has(block))).toEqual([]);
  had.set(table, blocks);
  const isLate = new Map<number, boolean>();
  for (const kind of kinds) {
    const { staged, published, quarantined } = await data().coverage(kind);
    const lacking = new Set(await lackingOf(table, kind));
    for (const block of ALL_BLOCKS) {
      const comes =
        !rangesInclude(published, block) &&
        (rangesInclude(staged, block) || !rangesInclude(quarantined, block));
      if (comes) isLate.set(block, true);
      if (!blocks.has(block)) continue;
      const what = `${table} ${kind} ${block}`;
      if (!rangesInclude(published, block)) expect(lacking.has(block), what).toBe(true);
      else if (lacking.has(block)) {
        const file = files.find((each) => each.firstBlock <= block && each.lastBlock >= block) as LakeFile;
        const late = ALL_BLOCKS.filter((each) => each >= file.firstBlock && each <= file.lastBlock);
        expect(
          late.some((each) => !rangesInclude(published, each)),
          what,
        ).toBe(true);
      }
    }
  }
  const { published } = await data().coverage(first);
  for (const block of blocksOf(published))
    if (!before.has(block)) expect(blocks.has(block), `${table} ${block}`).toBe(isLate.get(block) !== true);
  const lacks = new Map(
    await Promise.all(kinds.map(async (kind) => [kind, await lackingOf(table, kind)] as const)),
  );
  for (const row of await rowsOf(table)) {
    const isWithout = (kind: Kind): boolean => lacks.get(kind)?.includes(Number(row.block_number)) === true;
    if (table === 'transactions') expect(row.gas_used === null).toBe(isWithout('receipts'));
    if (row.source === 'trace') expect(isWithout('traces')).toBe(false);
    if (row.source === 'withdrawal') expect(isWithout('blocks')).toBe(false);
  }
}

/** Numbers from 0 to 1 that are the same for a seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
