import { afterEach, expect, inject, test } from 'vitest';
import { chainFrom, toBranch } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { follow } from './follow.js';
import type { IngestParts } from './ingest-piece.js';

const FIRST = 1_000;
let world: World;
afterEach(() => world.close());

const staged = async (): Promise<number[]> =>
  (await world.database.network('main').staging.blocks({ firstBlock: 0, lastBlock: FIRST + 1_000 })).map(
    (block) => block.number,
  );

test('invariant 2: blocks that were abandoned while nobody followed are never packed as final', async () => {
  const before = chainFrom(FIRST, 20);
  const after = toBranch(before, 12, 40);
  world = await makeWorld(inject('postgresUrl'), [{ blocks: before, finalized: { depth: 10 } }], {
    maxBlocks: 2,
  });
  await world.want(FIRST + 10, null);
  await world.follow();

  // Between two looks, the chain abandoned these blocks and became final beyond them. A packer always runs.
  world.nodes[0]?.setBlocks(after);
  world.nodes[0]?.setFinalized({ depth: 5 });
  const { source } = world.parts;
  await world.follow({
    source: {
      ...source,
      headers: async (numbers, options) => {
        await world.packAll();
        return source.headers(numbers, options);
      },
    },
  });
  await world.settle();

  const hashes = new Map(after.map(({ number, block }) => [number, block.hash]));
  const rows = await world.database.network('main').bundles.list('blocks', 0, 100);
  expect(rows.at(-1)?.lastBlock).toBeGreaterThanOrEqual(FIRST + 30);
  expect(rows.map((row) => row.lastHash)).toEqual(rows.map((row) => hashes.get(row.lastBlock)));
});

test('abandoned blocks beneath a gap are found although the blocks above it are right', async () => {
  const before = chainFrom(FIRST, 20);
  const after = toBranch(before, 14, 22);
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: before, head: FIRST + 15, finalized: FIRST + 9 },
  ]);
  await world.want(FIRST, null);
  await world.follow();
  const bad = {
    when: { method: 'eth_getBlockByNumber', block: FIRST + 16 },
    do: 'tamper',
    path: ['stateRoot'],
    value: `0x${'11'.repeat(32)}`,
  } as const;
  world.nodes[0]?.faults.add(bad);
  world.nodes[0]?.setBlocks(after);
  await world.follow();
  await world.follow();

  const hashes = new Map(after.map(({ number, block }) => [number, block.hash]));
  const blocks = await world.database
    .network('main')
    .staging.blocks({ firstBlock: FIRST, lastBlock: FIRST + 30 });
  expect(blocks.map((block) => block.number)).not.toContain(FIRST + 16);
  expect(blocks.at(-1)?.number).toBe(FIRST + 21);
  expect(blocks.map((block) => block.hash)).toEqual(blocks.map((block) => hashes.get(block.number)));
});

test('a block at the head without receipts keeps no other block and no other kind waiting', async () => {
  const bad = { when: { block: FIRST + 12 }, do: 'nullReceipts' } as const;
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chainFrom(FIRST, 30), finalized: { depth: 20 }, faults: [bad] },
  ]);
  await world.want(FIRST, null);
  const { failures } = await world.follow();
  expect(failures.map((failure) => failure.number)).toEqual([FIRST + 12]);
  const tip = Array.from({ length: 20 }, (_, i) => FIRST + 10 + i);
  expect(await staged()).toEqual(tip);
  const { staged: receipts } = await world.database.network('main').coverage('receipts');
  expect(receipts).toEqual([
    { firstBlock: FIRST + 10, lastBlock: FIRST + 11 },
    { firstBlock: FIRST + 13, lastBlock: FIRST + 29 },
  ]);
});

test('a long way to the head is gone in looks, newest blocks first, so that the head stays known', async () => {
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chainFrom(FIRST, 40), finalized: { depth: 30 } },
  ]);
  await world.want(FIRST, null);
  let now = 0;
  const slow: IngestParts = {
    ...world.parts,
    context: {
      ...world.context,
      clock: {
        ...world.context.clock,
        elapsed: () => {
          now += 1_000;
          return now;
        },
      },
    },
  };
  const first = await follow(slow, world.context.signal);
  expect(first.behind).toBe(true);
  expect(first.staged).toBeLessThan(30);
  expect((await staged()).at(-1)).toBe(FIRST + 39);
  expect((await world.database.network('main').head.get())?.number).toBe(FIRST + 39);

  let last = first;
  for (let looks = 0; last.behind && looks < 30; looks++) last = await follow(slow, world.context.signal);
  expect(await staged()).toEqual(Array.from({ length: 30 }, (_, i) => FIRST + 10 + i));
});

test('a head that stays is noted again only after five seconds, and one that moves at once', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 12), finalized: FIRST + 2 }]);
  const { context, database } = world.parts;
  let now = 0;
  let notes = 0;
  const set: typeof database.head.set = (head) => {
    notes += 1;
    return database.head.set(head);
  };
  const parts: IngestParts = {
    ...world.parts,
    context: { ...context, clock: { ...context.clock, now: () => now } },
    database: { ...database, head: { ...database.head, set } },
  };
  await follow(parts, context.signal);
  const notedAt = (await database.head.get())?.observedAt.getTime() ?? 0;
  for (const [at, expected] of [
    [notedAt + 4_999, 1],
    [notedAt - 4_999, 1],
    [notedAt + 5_000, 2],
  ] as const) {
    now = at;
    await follow(parts, context.signal);
    expect(notes).toBe(expected);
  }
  now = (await database.head.get())?.observedAt.getTime() ?? 0;
  world.nodes[0]?.setFinalized(FIRST + 3);
  await follow(parts, context.signal);
  expect(notes).toBe(3);
  expect((await database.head.get())?.finalized).toBe(FIRST + 3);
});
