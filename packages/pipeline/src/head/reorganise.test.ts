import { KINDS } from '@packhouse/chain';
import type { RecordedBlock } from '@packhouse/replay-node';
import { afterEach, expect, inject, test } from 'vitest';
import { follow } from '../ingest/follow.js';
import { chainFrom, toBranch } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';

const FIRST = 1_000;
let world: World;
afterEach(() => world.close());

/** Looks until nothing is left to stage: on a busy machine one look may end before. */
async function look(): ReturnType<typeof follow> {
  let staged = 0;
  for (;;) {
    const report = await world.follow();
    staged += report.staged;
    if (!report.behind) return { ...report, staged };
  }
}

/** Staged hashes by number. */
async function staged(): Promise<Map<number, string>> {
  const blocks = await world.database
    .network('main')
    .staging.blocks({ firstBlock: 0, lastBlock: FIRST + 10_000 });
  return new Map(blocks.map((block) => [block.number, block.hash]));
}

/** The hashes of a chain from a number up. */
function getHashes(chain: readonly RecordedBlock[], from: number): Map<number, string> {
  return new Map(
    chain.flatMap(({ number, block }) => (number < from ? [] : [[number, block.hash] as const])),
  );
}

test('from one branch to another and back again, all is staged as the chain has it each time', async () => {
  const a = chainFrom(FIRST, 30);
  const b = toBranch(a, 20, 32);
  world = await makeWorld(inject('postgresUrl'), [{ blocks: a, finalized: FIRST + 9 }]);
  await world.want(FIRST + 10, null);
  await look();
  expect(await staged()).toEqual(getHashes(a, FIRST + 10));

  world.nodes[0]?.setBlocks(b);
  await look();
  expect(await staged()).toEqual(getHashes(b, FIRST + 10));
  const gone = a[25] as RecordedBlock;
  expect(await world.database.network('main').staging.abandonedAt(gone.number)).toBeNull();

  world.nodes[0]?.setBlocks(a);
  await look();
  // The chain is two blocks shorter than what was staged: that alone is no reorganisation, the other hashes are.
  expect(await staged()).toEqual(getHashes(a, FIRST + 10));
  expect((await world.database.network('main').staging.abandonedAt(FIRST + 31))?.hash).toBe(
    b[31]?.block.hash,
  );
});

test('a branch that is a hundred blocks deep is left in a few round trips and one transaction', async () => {
  const a = chainFrom(FIRST, 140);
  const b = toBranch(a, 20, 142);
  world = await makeWorld(inject('postgresUrl'), [{ blocks: a, finalized: FIRST + 9 }]);
  await world.want(FIRST + 10, null);
  await look();
  expect((await staged()).size).toBe(130);
  // Only the comparison is of interest here.
  world.nodes[0]?.setBlocks(b);
  const before = world.nodes[0]?.stats().requests ?? 0;
  let sizes: number[] = [];
  const { database } = world.parts;
  const report = await follow(
    {
      ...world.parts,
      mayStage: () => false,
      database: {
        ...database,
        staging: {
          ...database.staging,
          abandon: async (start) => {
            const done = await database.staging.abandon(start);
            sizes = [...sizes, done.abandoned];
            return done;
          },
        },
      },
    },
    world.context.signal,
  );
  expect(report.head?.number).toBe(FIRST + 141);
  expect(sizes).toEqual([120]);
  expect((world.nodes[0]?.stats().requests ?? 0) - before).toBeLessThan(20);
  await look();
  expect(await staged()).toEqual(getHashes(b, FIRST + 10));
});

test('answers of several nodes behind one address never abandon anything', async () => {
  const a = chainFrom(FIRST, 30);
  const b = toBranch(a, 15, 30);
  let flap = false;
  let asked = 0;
  world = await makeWorld(inject('postgresUrl'), [
    {
      blocks: a,
      head: FIRST + 24,
      finalized: FIRST + 9,
      // The newest block comes from a node ahead, all others from one on another branch, or behind.
      observe: ({ method, params }) => {
        const node = world.nodes[0];
        if (!flap || node === undefined || method !== 'eth_getBlockByNumber') return;
        asked += 1;
        if (params[0] === 'latest') node.setBlocks(a);
        else if (asked % 2 === 0) node.setBlocks(b);
        else node.setBlocks(a, FIRST + 12);
      },
    },
  ]);
  await world.want(FIRST + 10, null);
  await look();
  const before = await staged();
  expect(before.get(FIRST + 24)).toBe(a[24]?.block.hash);
  flap = true;
  for (let looks = 0; looks < 10; looks += 1) await world.follow({ mayStage: () => false });
  expect(asked).toBeGreaterThan(20);
  flap = false;
  expect(await staged()).toEqual(before);
  expect((await world.database.network('main').head.get())?.finalized).toBeLessThanOrEqual(FIRST + 9);
});

test('a node that calls less final than before is behind, and takes nothing back', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 30), finalized: FIRST + 20 }]);
  await world.want(FIRST, null);
  await look();
  world.nodes[0]?.setFinalized(FIRST + 5);
  world.nodes[0]?.setHead(FIRST + 25);
  expect((await look()).halted).toBeNull();
  expect(await world.database.network('main').head.get()).toMatchObject({
    finalized: FIRST + 20,
    number: FIRST + 25,
  });
  world.nodes[0]?.setHead(FIRST + 15);
  expect((await look()).halted).toBeNull();
  expect((await world.database.network('main').head.get())?.finalized).toBe(FIRST + 20);
  expect(await world.database.network('main').head.anchor()).toMatchObject({ number: FIRST + 20 });
});

test('several upstreams, one of them on a branch that died: nothing of that branch is staged', async () => {
  const a = chainFrom(FIRST, 40);
  const dead = toBranch(a, 8, 60);
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: a, head: FIRST + 20, finalized: { depth: 10 } },
    { blocks: a, head: FIRST + 20, finalized: { depth: 10 } },
  ]);
  await world.want(FIRST + 5, null);
  await look();
  // The preferred one leaves the chain, below what is final and higher than the other.
  world.nodes[0]?.setBlocks(dead);
  world.nodes[1]?.setHead(FIRST + 39);
  expect((await look()).halted).toBeNull();
  expect((await look()).head?.number).toBe(FIRST + 39);
  await world.settle();
  const rows = await world.database.network('main').bundles.list('blocks', 0, 100);
  const hashes = getHashes(a, FIRST);
  expect(rows.map((row) => row.lastHash)).toEqual(rows.map((row) => hashes.get(row.lastBlock)));
  for (const [number, hash] of await staged()) expect(hash).toBe(hashes.get(number));
  expect(await world.database.alarms.list()).toEqual([]);
});

/** A world that published up to FIRST + 19 of a chain of 30 blocks and staged the rest. */
async function publishedWorld() {
  const chain = chainFrom(FIRST, 30);
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chain, finalized: FIRST + 19 }], {
    maxBlocks: 1,
  });
  await world.want(FIRST, null);
  await look();
  await world.settle();
  expect((await world.database.network('main').bundles.list('traces', 0, 100)).at(-1)?.lastBlock).toBe(
    FIRST + 19,
  );
  return { chain, other: toBranch(chain, 10, 60) };
}

/** All that must not change while the alarm is open. */
async function holdings() {
  const { database } = world;
  return {
    staged: await staged(),
    head: { ...(await database.network('main').head.get()), observedAt: null },
    bundles: (
      await Promise.all(KINDS.map((kind) => database.network('main').bundles.list(kind, 0, 1_000)))
    ).flat(),
  };
}

test('a reorganisation below finality raises the alarm once, touches nothing, and ends when the chain is back', async () => {
  const { chain, other } = await publishedWorld();
  const before = await holdings();
  world.nodes[0]?.setBlocks(other);
  for (let looks = 0; looks < 3; looks += 1) {
    const report = await look();
    expect(report).toMatchObject({ head: null, staged: 0, halted: { code: 'REORG_BELOW_FINALITY' } });
  }
  const alarms = await world.database.alarms.list({ cleared: true });
  expect(alarms).toHaveLength(1);
  expect(alarms[0]).toMatchObject({
    network: 'main',
    name: 'REORG_BELOW_FINALITY',
    clearedAt: null,
    data: {
      number: FIRST + 19,
      expected: chain[19]?.block.hash,
      got: other[19]?.block.hash,
      upstream: 'node-1',
    },
  });
  expect(await world.context.metrics.render()).toContain(
    'packhouse_alarm{network="main",name="REORG_BELOW_FINALITY"} 1',
  );
  await world.settle();
  expect(await holdings()).toEqual(before);

  world.nodes[0]?.setBlocks([...chain, ...toBranch(chain, 30, 40).slice(30)]);
  const report = await look();
  expect(report).toMatchObject({ halted: null, staged: 10, head: { number: FIRST + 39 } });
  expect(await world.database.alarms.list({ cleared: true })).toMatchObject([{ clearedBy: 'itself' }]);
  expect(await world.context.metrics.render()).toContain(
    'packhouse_alarm{network="main",name="REORG_BELOW_FINALITY"} 0',
  );
});

test('an operator who clears the alarm says: go on with what the chain has now; what is published stays', async () => {
  const { other } = await publishedWorld();
  const before = await holdings();
  world.nodes[0]?.setBlocks(other, FIRST + 40);
  world.nodes[0]?.setFinalized(FIRST + 30);
  expect((await look()).halted).not.toBeNull();
  await world.database.network('main').alarms.clear('REORG_BELOW_FINALITY', 'operator');
  expect((await look()).halted).toBeNull();
  expect((await look()).halted).toBeNull();
  expect((await holdings()).bundles).toEqual(before.bundles);
  const hashes = getHashes(other, FIRST);
  const now = await staged();
  expect(now.get(FIRST + 40)).toBe(hashes.get(FIRST + 40));
  for (const [number, hash] of now) if (number > FIRST + 19) expect(hash).toBe(hashes.get(number));
  expect(await world.database.alarms.list()).toEqual([]);
});

test('another chain that began anew, lower than what is final here, is told from a node that is behind', async () => {
  const { chain, other } = await publishedWorld();
  world.nodes[0]?.setHead(FIRST + 15);
  expect((await look()).halted).toBeNull();
  world.nodes[0]?.setBlocks(other, FIRST + 15);
  expect((await look()).halted).toMatchObject({ code: 'REORG_BELOW_FINALITY' });
  world.nodes[0]?.setBlocks(chain);
  expect((await look()).halted).toBeNull();
});

test('a final block that does not fit its published neighbour raises the alarm instead of being tried for ever', async () => {
  const chain = chainFrom(FIRST, 40);
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chain, head: FIRST + 19, finalized: FIRST + 19 },
  ]);
  await world.want(FIRST, FIRST + 19);
  await world.noteHead();
  await world.settle();
  const before = await holdings();
  // The chain changed between two looks; now more of it is wanted.
  world.nodes[0]?.setBlocks(toBranch(chain, 15, 40));
  world.nodes[0]?.setFinalized(FIRST + 39);
  await world.want(FIRST + 20, FIRST + 39);
  await world.noteHead();
  await world.settle();
  expect(await world.database.alarms.list()).toMatchObject([
    { name: 'REORG_BELOW_FINALITY', data: { number: FIRST + 19, expected: chain[19]?.block.hash } },
  ]);
  expect((await holdings()).bundles).toEqual(before.bundles);
  expect((await staged()).has(FIRST + 20)).toBe(false);
});
