import { hash } from 'node:crypto';
import { canonicalRecord, KINDS, type Proof } from '@packhouse/chain';
import type { ObjectStore } from '@packhouse/object-store';
import { generateChain, type RecordedBlock, sentBy } from '@packhouse/replay-node';
import { afterEach, expect, inject, test } from 'vitest';
import { plan } from './plan/plan.js';
import { emptyQueue, makeWorld, type World } from './testing/world.js';

const FIRST = 1_000;
let world: World;
afterEach(() => world.close());

async function getChain(length: number, seed = 1): Promise<RecordedBlock[]> {
  return [
    ...(await generateChain({
      length,
      txsPerBlock: 5,
      logsPerTx: 2,
      tracesPerTx: 3,
      seed,
      startNumber: FIRST,
    })),
  ];
}

test('invariants 1, 2 and 3: what was proved is published once, without overlap, and reads back as the node sent it', async () => {
  const blocks = await getChain(60);
  world = await makeWorld(inject('postgresUrl'), [{ blocks }], { maxBlocks: 16 });
  await world.want(FIRST, FIRST + 59);
  await world.noteHead();
  await world.settle();
  for (const kind of KINDS) {
    const records = await world.published(kind);
    expect([...records.keys()]).toEqual(blocks.map((block) => block.number));
    for (const block of blocks)
      expect(records.get(block.number)).toBe(canonicalRecord(kind, sentBy(block, kind)));
    const rows = await world.database.network('main').bundles.list(kind, 0, 100);
    expect(rows.length).toBeGreaterThan(1);
    const proved = (proof: Proof) => rows.every((row) => row.proofs.includes(proof));
    expect([proved('headerHash'), proved('parentLink'), proved('sampledSenders')]).toEqual([
      true,
      true,
      true,
    ]);
    expect([proved('traces'), proved('logAddresses')]).toEqual([kind === 'traces', kind === 'traces']);
  }
});

test('only final blocks are published; the rest stays staged, and answers alone', async () => {
  const blocks = await getChain(20);
  world = await makeWorld(inject('postgresUrl'), [{ blocks, finalized: { depth: 5 } }], { maxBlocks: 4 });
  await world.want(FIRST, null);
  const { staged } = await world.follow();
  expect(staged).toBe(5);
  await world.settle();
  const coverage = await world.database.network('main').coverage('blocks');
  // 15 final blocks, cut at 4: the last three wait for the next one.
  expect(coverage.published).toEqual([{ firstBlock: FIRST, lastBlock: FIRST + 11 }]);
  expect(coverage.staged.at(-1)?.lastBlock).toBe(FIRST + 19);
  expect(await world.database.network('main').locate('logs', FIRST + 19)).toMatchObject({
    state: 'staged',
    fragment: { firstBlock: FIRST + 19, lastBlock: FIRST + 19 },
  });
});

test('invariant 4: a block that fails a proof is quarantined by cause in the kinds that need it, their bundles end before it, and everything else is published', async () => {
  const blocks = await getChain(30);
  world = await makeWorld(inject('postgresUrl'), [
    {
      blocks,
      faults: [
        {
          when: { method: 'eth_getBlockReceipts', block: FIRST + 10 },
          do: 'tamper',
          path: [0, 'gasUsed'],
          value: '0x1',
        },
      ],
    },
  ]);
  await world.want(FIRST, FIRST + 29);
  await world.noteHead();
  await world.settle();
  const [row, ...others] = await world.database.network('main').quarantine.list();
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    firstBlock: FIRST + 10,
    cause: 'PROOF_FAILED',
    upstream: 'node-1',
    attempts: 1,
  });
  expect(row?.message).toMatch(/1010/);
  expect(row?.kinds).toEqual(['receipts', 'logs']);
  expect(row?.payloadDigest).toMatch(/^[0-9a-f]{64}$/);
  expect(row?.tried).toMatchObject([
    { upstream: 'node-1', cause: 'PROOF_FAILED', payloadDigest: row?.payloadDigest },
  ]);
  for (const kind of KINDS) {
    const rows = await world.database.network('main').bundles.list(kind, 0, 100);
    const held = row?.kinds.includes(kind);
    expect(rows.map(({ firstBlock, lastBlock }) => [firstBlock, lastBlock])).toEqual(
      held
        ? [
            [FIRST, FIRST + 9],
            [FIRST + 11, FIRST + 29],
          ]
        : [[FIRST, FIRST + 29]],
    );
  }
});

test('data that fails a proof on one upstream is taken from another, and the liar is named', async () => {
  const blocks = await getChain(12);
  const lie = {
    when: { method: 'eth_getBlockByNumber', block: FIRST + 3 },
    do: 'tamper',
    path: ['gasUsed'],
    value: '0x2',
  } as const;
  world = await makeWorld(inject('postgresUrl'), [{ blocks, faults: [lie] }, { blocks }]);
  await world.want(FIRST, FIRST + 11);
  await world.noteHead();
  await world.settle();
  expect(await world.database.network('main').quarantine.list()).toEqual([]);
  expect((await world.published('receipts')).size).toBe(12);
  expect(await world.context.metrics.render()).toMatch(
    /invalid_responses_total\{[^}]*upstream="node-1"[^}]*\} [1-9]/,
  );
});

test('a reorganisation drops the abandoned blocks, stages the new ones, and A to B to A works', async () => {
  const chainA = await getChain(20, 1);
  const chainB = [...chainA.slice(0, 15), ...(await branch(chainA, 15, 22))];
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainA, finalized: { depth: 10 } }]);
  await world.want(FIRST, null);
  const hashes = async (): Promise<string[]> =>
    (await world.database.network('main').staging.blocks({ firstBlock: FIRST, lastBlock: FIRST + 30 })).map(
      (block) => block.hash,
    );
  await world.follow();
  expect(await hashes()).toEqual(chainA.slice(10).map((block) => block.block.hash));

  world.nodes[0]?.setBlocks(chainB);
  await world.follow();
  await world.follow();
  expect((await hashes()).slice(-7)).toEqual(chainB.slice(15).map((block) => block.block.hash));
  expect(await world.database.network('main').staging.abandonedAt(FIRST + 15)).toBeNull();

  world.nodes[0]?.setBlocks([...chainA, ...(await branch(chainA, 20, 25, 9))]);
  await world.follow();
  await world.follow();
  expect(await hashes()).toEqual(expect.arrayContaining(chainA.slice(15).map((block) => block.block.hash)));
  expect(await hashes()).not.toContain(chainB[16]?.block.hash);
});

test('invariant 7: an object that reads back wrong publishes nothing and loses nothing', async () => {
  const blocks = await getChain(10);
  world = await makeWorld(inject('postgresUrl'), [{ blocks }]);
  await world.want(FIRST, FIRST + 9);
  await world.noteHead();
  const lying: ObjectStore = {
    ...world.objectStore,
    put: async (key, body, options) => {
      const damaged = Buffer.from(body);
      damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
      await world.objectStore.put(key, damaged, {
        ...options,
        sha256: hash('sha256', damaged),
      });
      return { verified: false };
    },
  };
  await expect(world.settle(lying)).rejects.toMatchObject({ code: 'OBJECT_MISMATCH' });
  expect((await world.database.network('main').coverage('blocks')).published).toEqual([]);
  expect((await world.database.network('main').coverage('blocks')).staged).toEqual([
    { firstBlock: FIRST, lastBlock: FIRST + 9 },
  ]);
  // Whoever finds other bytes under a key cannot know that nobody published them: they are moved away by hand.
  await expect(world.settle()).rejects.toMatchObject({ code: 'OBJECT_EXISTS' });
  for await (const { key } of world.objectStore.list('')) await world.objectStore.delete(key);
  await world.settle();
  expect((await world.published('blocks')).size).toBe(10);
});

test('staging is reclaimed only when every kind of a segment is published', async () => {
  const blocks = await getChain(10);
  world = await makeWorld(inject('postgresUrl'), [{ blocks }]);
  await world.want(FIRST, FIRST + 9);
  await world.noteHead();
  const before = await world.database.staging.diskBytes();
  for (let jobs = 1; jobs > 0; ) jobs = (await plan({ ...world })).ingestJobs;
  expect((await world.database.network('main').staging.reclaim()).length).toBe(0);
  await world.settle();
  expect(await world.database.staging.diskBytes()).toBeGreaterThan(before);
  expect((await world.database.network('main').staging.reclaim()).length).toBe(1);
  expect(await world.database.staging.diskBytes()).toBeLessThanOrEqual(before);
  expect((await world.published('traces')).size).toBe(10);
});

test('a wiped queue is filled again by the next plan, and planning twice adds nothing', async () => {
  const blocks = await getChain(100);
  world = await makeWorld(inject('postgresUrl'), [{ blocks }]);
  await world.want(FIRST, FIRST + 99);
  await world.noteHead();
  const first = await plan({ ...world });
  expect(first.ingestJobs).toBeGreaterThan(0);
  const ids = await world.queues.pendingIds('ingest');
  expect((await plan({ ...world })).ingestJobs).toBe(0);
  await emptyQueue(world.queues, 'ingest');
  expect((await plan({ ...world })).ingestJobs).toBe(first.ingestJobs);
  expect(await world.queues.pendingIds('ingest')).toEqual(ids);
});

test('a node that is gone quarantines nothing: the job fails and is tried again', async () => {
  const blocks = await getChain(8);
  world = await makeWorld(inject('postgresUrl'), [{ blocks }]);
  await world.want(FIRST, FIRST + 7);
  await world.noteHead();
  await world.nodes[0]?.close();
  const { ingest } = await import('./ingest/ingest.js');
  const window = { firstBlock: FIRST, lastBlock: FIRST + 7, kinds: KINDS };
  await expect(ingest(world.parts, window, world.context.signal)).rejects.toMatchObject({
    code: 'NODE_UNREACHABLE',
  });
  expect(await world.database.network('main').quarantine.list()).toEqual([]);
});

/** Other blocks on top of the chain's first `at` blocks, up to `length` in all. */
async function branch(
  chain: readonly RecordedBlock[],
  at: number,
  length: number,
  seed = 2,
): Promise<RecordedBlock[]> {
  const parent = chain[at - 1] as RecordedBlock;
  return [
    ...(await generateChain({
      length: length - at,
      txsPerBlock: 3,
      logsPerTx: 1,
      tracesPerTx: 2,
      seed,
      after: { number: parent.number, hash: parent.block.hash, timestamp: Number(parent.block.timestamp) },
    })),
  ];
}
