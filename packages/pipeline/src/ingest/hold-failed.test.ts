import { KINDS } from '@packhouse/chain';
import type { FaultRule } from '@packhouse/replay-node';
import { afterEach, expect, inject, test } from 'vitest';
import { plan } from '../plan/plan.js';
import { chainFrom, toBranch } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { ingest } from './ingest.js';

/** The first of a segment. */
const FIRST = 1_024;
let world: World;
afterEach(() => world.close());

/** The node keeps no state for these blocks, and says so as geth does. */
const withoutState = (start: number, end: number): FaultRule[] =>
  Array.from({ length: end - start + 1 }, (_, i) => start + i).flatMap((block) =>
    ['trace_block', 'debug_traceBlockByHash'].map((method) => ({
      when: { method, block },
      do: 'rpcError' as const,
      message: 'missing trie node 00ab (path ) state 0xcd is not available',
    })),
  );

const rows = () => world.quarantined();

test('a block without traces keeps back its traces and nothing else, and is whole once a node has them', async () => {
  const faults = [{ when: { method: 'trace_block', block: FIRST + 5 }, do: 'emptyTraces' }] as const;
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chainFrom(FIRST, 12), faults, capabilities: { debugFlat: false, debugCall: false } },
  ]);
  await world.want(FIRST, FIRST + 11);
  await world.noteHead();
  await world.settle();
  expect(await rows()).toEqual([[FIRST + 5, FIRST + 5, 'traces', 'NODE_ANSWER_MISSING']]);
  for (const kind of KINDS) {
    const published = (await world.database.network('main').coverage(kind)).published;
    const whole = [{ firstBlock: FIRST, lastBlock: FIRST + 11 }];
    const around = [
      { firstBlock: FIRST, lastBlock: FIRST + 4 },
      { firstBlock: FIRST + 6, lastBlock: FIRST + 11 },
    ];
    expect(published).toEqual(kind === 'traces' ? around : whole);
  }
  expect((await plan({ ...world })).ingestJobs).toBe(0);

  world.nodes[0]?.faults.clear();
  expect(await world.database.network('main').quarantine.retry({ firstBlock: 0, lastBlock: 9_999 })).toBe(1);
  await world.settle();
  expect(await rows()).toEqual([]);
  expect((await world.published('traces')).size).toBe(12);
});

test('what one node has wrong is the cause of a block of which another node lacks a part', async () => {
  const blocks = chainFrom(FIRST, 12);
  const lacks: FaultRule = { when: { method: 'trace_block', block: FIRST + 5 }, do: 'emptyTraces' };
  const lies: FaultRule = {
    when: { method: 'eth_getBlockReceipts', block: FIRST + 5 },
    do: 'tamper',
    path: [0, 'gasUsed'],
    value: '0x1',
  };
  const capabilities = { debugFlat: false, debugCall: false };
  world = await makeWorld(inject('postgresUrl'), [
    { blocks, faults: [lies, lacks], capabilities },
    { blocks, faults: [{ when: { block: FIRST + 5 }, do: 'nullReceipts' }, lacks], capabilities },
  ]);
  await world.want(FIRST, FIRST + 11);
  await world.noteHead();
  await world.settle();
  expect(await rows()).toEqual([[FIRST + 5, FIRST + 5, 'receipts,logs,traces', 'PROOF_FAILED']]);
  const [row] = await world.database.network('main').quarantine.list();
  expect(row).toMatchObject({ upstream: 'node-1', message: expect.stringContaining('receipts[0]') });
  expect((await world.published('blocks')).size).toBe(12);
});

test('a part of the chain of which no node keeps the state is one row, found without asking for each block', async () => {
  const kept = FIRST + 130;
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chainFrom(FIRST, 160), faults: withoutState(FIRST, kept - 1) },
  ]);
  await world.want(FIRST, FIRST + 159);
  await world.noteHead();
  const window = { firstBlock: FIRST, lastBlock: FIRST + 31, kinds: KINDS };
  const { signal } = world.context;
  await ingest(world.parts, window, signal);
  expect(await rows()).toEqual([[FIRST, kept - 1, 'traces', 'BLOCKS_UNAVAILABLE']]);
  const [row] = await world.database.network('main').quarantine.list();
  expect(row?.message).toMatch(
    /^No upstream of main keeps traces of blocks 1024 to 1153: .*missing trie node/,
  );
  expect(row?.tried).toMatchObject([{ upstream: 'node-1', cause: 'NODE_ERROR' }]);
  // Everything else of the window is there, and the traces behind the range are planned.
  expect((await world.database.network('main').coverage('receipts')).staged).toEqual([
    { firstBlock: FIRST, lastBlock: FIRST + 31 },
  ]);
  await world.settle();
  expect(await rows()).toEqual([[FIRST, kept - 1, 'traces', 'BLOCKS_UNAVAILABLE']]);
  expect((await world.published('logs')).size).toBe(160);
  expect((await world.published('traces')).size).toBe(30);
});

test('a range that fails again waits longer as one row, and is had once a node has it', async () => {
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chainFrom(FIRST, 90), faults: withoutState(FIRST, FIRST + 69) },
  ]);
  await world.want(FIRST, FIRST + 89);
  await world.noteHead();
  await world.settle();
  const everything = { firstBlock: 0, lastBlock: 9_999 };
  for (const attempts of [2, 3]) {
    await world.database.network('main').quarantine.retry(everything);
    await world.settle();
    const list = await world.database.network('main').quarantine.list();
    expect(list.map(({ firstBlock, lastBlock }) => [firstBlock, lastBlock])).toEqual([[FIRST, FIRST + 69]]);
    expect(list[0]?.attempts).toBe(attempts);
  }
  world.nodes[0]?.faults.clear();
  await world.database.network('main').quarantine.retry(everything);
  await world.settle();
  expect(await rows()).toEqual([]);
  expect((await world.published('traces')).size).toBe(90);
});

test('many blocks in a row that fail the same proof are one row with that cause', async () => {
  const faults = Array.from({ length: 20 }, (_, i) => ({
    when: { method: 'eth_getBlockReceipts', block: FIRST + 4 + i },
    do: 'tamper' as const,
    path: [0, 'gasUsed'],
    value: '0x1',
  }));
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 32), faults }]);
  await world.want(FIRST, FIRST + 31);
  await world.noteHead();
  await world.settle();
  expect(await rows()).toEqual([[FIRST + 4, FIRST + 23, 'receipts,logs', 'PROOF_FAILED']]);
  expect((await world.published('blocks')).size).toBe(32);
  expect((await world.published('logs')).size).toBe(12);
});

test.each(['staged', 'final'])(
  'what never fits its %s neighbours is quarantined after some tries, and stops nothing else',
  async (what) => {
    const chain = chainFrom(FIRST, 32);
    world = await makeWorld(inject('postgresUrl'), [{ blocks: chain }]);
    const { signal } = world.context;
    const kinds = [...KINDS];
    await ingest(world.parts, { firstBlock: FIRST, lastBlock: FIRST + 9, kinds }, signal);
    if (what === 'final') await world.noteHead();
    // From another branch: its first block does not follow the one that is staged, which the node still calls right.
    const other = toBranch(chain, 5, 32);
    world.nodes[0]?.setBlocks([...chain.slice(0, 10), ...other.slice(10)]);
    const window = { firstBlock: FIRST + 10, lastBlock: FIRST + 31, kinds };
    for (const attempt of [1, 2]) {
      await expect(ingest(world.parts, window, signal, attempt)).rejects.toMatchObject({
        code: 'STAGE_CONFLICT',
      });
    }
    await ingest(world.parts, window, signal, 3);
    // The run that touches the staged block; what comes behind it fits its own neighbours.
    expect(await rows()).toEqual([[FIRST + 10, FIRST + 25, kinds.join(), 'STAGE_CONFLICT']]);
  },
);

test('blocks that came by another way leave the quarantine at the next plan', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 8) }]);
  await world.want(FIRST, FIRST + 7);
  await world.noteHead();
  const { database } = world;
  const { signal } = world.context;
  await ingest(world.parts, { firstBlock: FIRST, lastBlock: FIRST + 7, kinds: KINDS }, signal);
  await database.network('main').quarantine.put({
    firstBlock: FIRST + 2,
    kinds: ['logs'],
    cause: 'NODE_ANSWER_MISSING',
    message: 'x',
    upstream: null,
    payloadDigest: null,
  });
  await plan({ ...world });
  expect(await rows()).toHaveLength(1);
  await database.network('main').quarantine.retry({ firstBlock: 0, lastBlock: 9_999 });
  expect((await plan({ ...world })).ingestJobs).toBe(0);
  expect(await rows()).toEqual([]);
});
