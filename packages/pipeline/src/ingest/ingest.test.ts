import { KINDS, type Kind } from '@packhouse/chain';
import { createBlockSource } from '@packhouse/node-rpc';
import { generateChain } from '@packhouse/replay-node';
import { afterEach, expect, inject, test } from 'vitest';
import { plan } from '../plan/plan.js';
import { chainFrom } from '../testing/chains.js';
import { emptyQueue, makeWorld, type World } from '../testing/world.js';
import { ingest } from './ingest.js';

/** The first of a segment. */
const FIRST = 1_024;
let world: World;
afterEach(() => world.close());

test('kinds that miss different parts of a window are all had, and nothing is planned for ever', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 24) }]);
  await world.noteHead();
  const want = (start: number, end: number, kinds: Kind[]) =>
    world.database.network('main').backfills.add({
      kinds,
      from: FIRST + start,
      to: FIRST + end,
      priority: 1,
    });
  const { signal } = world.context;
  await want(10, 23, ['logs']);
  await want(0, 4, ['receipts']);
  await ingest(world.parts, { firstBlock: FIRST + 10, lastBlock: FIRST + 23, kinds: ['logs'] }, signal);
  await ingest(world.parts, { firstBlock: FIRST, lastBlock: FIRST + 4, kinds: ['receipts'] }, signal);
  await want(0, 20, ['logs', 'receipts']);

  expect((await plan({ ...world })).ingestJobs).toBe(1);
  await emptyQueue(world.queues, 'ingest');
  await ingest(
    world.parts,
    { firstBlock: FIRST, lastBlock: FIRST + 20, kinds: ['receipts', 'logs'] },
    signal,
  );
  expect(await plan({ ...world })).toMatchObject({ ingestJobs: 0 });
});

test('a block that no living node can give is quarantined after some tries, its neighbours are not', async () => {
  const faults = [
    { when: { method: 'trace_block', block: FIRST + 10 }, do: 'reset' },
    { when: { method: 'debug_traceBlockByHash', block: FIRST + 10 }, do: 'reset' },
  ] as const;
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 32), faults }]);
  const window = { firstBlock: FIRST, lastBlock: FIRST + 31, kinds: KINDS };
  const { signal } = world.context;
  for (const attempt of [1, 2]) {
    await expect(ingest(world.parts, window, signal, attempt)).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
    });
    expect(await world.database.network('main').quarantine.list()).toEqual([]);
  }
  await ingest(world.parts, window, signal, 3);
  expect(await world.database.network('main').quarantine.list()).toMatchObject([
    { firstBlock: FIRST + 10, cause: 'NODE_UNREACHABLE' },
  ]);
  expect((await world.database.network('main').coverage('traces')).staged).toEqual([
    { firstBlock: FIRST, lastBlock: FIRST + 9 },
    { firstBlock: FIRST + 11, lastBlock: FIRST + 31 },
  ]);
});

test('a node that gives nothing of a window but its head quarantines nothing, however often it is asked', async () => {
  const faults = [{ when: { method: 'eth_getBlockReceipts' }, do: 'http500' }] as const;
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 8), faults }]);
  const window = { firstBlock: FIRST, lastBlock: FIRST + 7, kinds: KINDS };
  await expect(ingest(world.parts, window, world.context.signal, 5)).rejects.toMatchObject({
    code: 'NODE_HTTP_ERROR',
  });
  expect(await world.database.network('main').quarantine.list()).toEqual([]);
});

test('a window of which a node gives no traces at all is held at the last try, where it gives those of other blocks', async () => {
  const faults = Array.from({ length: 8 }, (_, i) => FIRST + i).flatMap((block) =>
    ['trace_block', 'debug_traceBlockByHash'].map((method) => ({
      when: { method, block },
      do: 'html' as const,
    })),
  );
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 16), faults }]);
  await world.noteHead();
  const window = { firstBlock: FIRST, lastBlock: FIRST + 7, kinds: KINDS };
  const { signal } = world.context;
  for (const attempt of [3, 4]) {
    await expect(ingest(world.parts, window, signal, attempt)).rejects.toMatchObject({
      code: 'NODE_NOT_JSON_RPC',
    });
  }
  await ingest(world.parts, window, signal, 5);
  expect(await world.database.network('main').quarantine.list()).toMatchObject([
    { firstBlock: FIRST, lastBlock: FIRST + 7, kinds: ['traces'], cause: 'NODE_NOT_JSON_RPC' },
  ]);
  expect((await world.database.network('main').coverage('logs')).staged).toEqual([
    { firstBlock: FIRST, lastBlock: FIRST + 7 },
  ]);
});

test('streamed traces of a block that fails its proofs are let go, with their connections', async () => {
  const lie = { when: { method: 'eth_getBlockByNumber', block: FIRST + 3 }, do: 'tamper' } as const;
  const blocks = generateChain({ length: 8, txsPerBlock: 50, tracesPerTx: 200, startNumber: FIRST });
  world = await makeWorld(inject('postgresUrl'), [
    { blocks, faults: [{ ...lie, path: ['gasUsed'], value: '0x2' }] },
  ]);
  const source = createBlockSource({ network: world.network, context: world.context, maxBodyBytes: 200_000 });
  const window = { firstBlock: FIRST + 3, lastBlock: FIRST + 3, kinds: KINDS };
  for (let tries = 0; tries < 3; tries++) {
    await ingest({ ...world.parts, source }, window, world.context.signal);
    await world.database.network('main').quarantine.retry(window);
  }
  await expect.poll(() => world.nodes[0]?.stats().inFlight).toBe(0);
  await source.close();
});
