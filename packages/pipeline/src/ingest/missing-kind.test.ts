import { KINDS, type Kind } from '@packhouse/chain';
import { createBlockSource } from '@packhouse/node-rpc';
import type { FaultRule } from '@packhouse/replay-node';
import { coverage, holeNeeds } from '@packhouse/report';
import { systemClock } from '@packhouse/runtime';
import { afterEach, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { ingest } from './ingest.js';

const FIRST = 1_024;
const LENGTH = 40;
const WITHOUT_TRACES: FaultRule[] = ['trace_block', 'debug_traceBlockByHash'].map((method) => ({
  when: { method },
  do: 'rpcError',
  code: -32_601,
  message: `the method ${method} does not exist/is not available`,
}));
const SOUND: readonly Kind[] = ['blocks', 'transactions', 'receipts', 'logs'];

let world: World;
afterEach(() => world.close());

const rows = () => world.quarantined();

const getStaged = async (kind: Kind) => (await world.database.network('main').coverage(kind)).staged;

async function begin(finalized: number): Promise<void> {
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chainFrom(FIRST, LENGTH), faults: WITHOUT_TRACES, finalized },
  ]);
  await world.want(FIRST, FIRST + LENGTH - 1);
}

test('a kind that no upstream offers holds back itself alone in a backfill, as one named range', async () => {
  await begin(FIRST + LENGTH - 1);
  await world.noteHead();
  await world.settle();
  expect(await rows()).toEqual([[FIRST, FIRST + LENGTH - 1, 'traces', 'NODE_METHOD_MISSING']]);
  for (const kind of SOUND) expect((await world.published(kind)).size, kind).toBe(LENGTH);
  const page = await coverage(world, { network: 'main', kinds: ['traces'], from: FIRST, limit: 10 });
  const [hole] = page.kinds[0]?.holes ?? [];
  expect(hole).toMatchObject({ firstBlock: FIRST, lastBlock: FIRST + LENGTH - 1, reason: 'quarantined' });
  expect(holeNeeds(hole as NonNullable<typeof hole>)).toMatch(
    /^no upstream offers a method for it: it comes by itself once one does; the next try is due at 2/,
  );
});

test('a probe that fails keeps the range as it is, and one that succeeds releases it', async () => {
  await begin(FIRST + LENGTH - 1);
  await world.noteHead();
  await world.settle();
  const { quarantine } = world.database.network('main');
  await quarantine.retry({ firstBlock: 0, lastBlock: 9_999 });
  const before = world.nodes[0]?.stats();
  await world.settle();
  expect(await rows()).toEqual([[FIRST, FIRST + LENGTH - 1, 'traces', 'NODE_METHOD_MISSING']]);
  expect((await quarantine.list())[0]?.attempts).toBe(2);
  // Nobody is asked: the only upstream refused the methods less than a minute ago.
  expect(world.nodes[0]?.stats()).toEqual(before);

  world.nodes[0]?.faults.clear();
  const later = { ...systemClock, elapsed: () => systemClock.elapsed() + 60_000 };
  const source = createBlockSource({ network: world.network, context: { ...world.context, clock: later } });
  world.parts.source = source;
  await quarantine.retry({ firstBlock: 0, lastBlock: 9_999 });
  await world.settle();
  expect(await rows()).toEqual([]);
  for (const kind of KINDS) expect((await world.published(kind)).size, kind).toBe(LENGTH);
  await source.close();
});

test('a probe that finds its block false releases the range, and keeps that block', async () => {
  await begin(FIRST + LENGTH - 1);
  await world.noteHead();
  await world.settle();
  world.nodes[0]?.faults.clear();
  const lie = { path: [0, 'action', 'from'], value: `0x${'ab'.repeat(20)}` };
  for (const method of ['trace_block', 'debug_traceBlockByHash'])
    world.nodes[0]?.faults.add({ when: { method, block: FIRST }, do: 'tamper', ...lie });
  const later = { ...systemClock, elapsed: () => systemClock.elapsed() + 60_000 };
  const source = createBlockSource({ network: world.network, context: { ...world.context, clock: later } });
  await world.database.network('main').quarantine.retry({ firstBlock: 0, lastBlock: 9_999 });
  const window = { firstBlock: FIRST, lastBlock: FIRST + LENGTH - 1, kinds: ['traces'] as const };
  await ingest({ ...world.parts, source }, window, world.context.signal);
  expect(await rows()).toEqual([[FIRST, FIRST, 'traces', 'PROOF_FAILED']]);
  await source.close();
});

test('a kind that no upstream offers holds back itself alone at the head', async () => {
  await begin(FIRST + 29);
  const { staged } = await world.follow();
  expect(staged).toBe(10);
  const tip = [{ firstBlock: FIRST + 30, lastBlock: FIRST + 39 }];
  for (const kind of SOUND) expect(await getStaged(kind)).toEqual(tip);
  expect(await getStaged('traces')).toEqual([]);
  expect(await rows()).toEqual([[FIRST + 30, FIRST + 39, 'traces', 'NODE_METHOD_MISSING']]);
  // Until the next try nothing is left to do.
  expect(await world.follow()).toMatchObject({ staged: 0, failures: [] });
});
