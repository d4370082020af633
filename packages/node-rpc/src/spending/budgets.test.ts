import { systemClock } from '@packhouse/runtime';
import { afterEach, expect, it } from 'vitest';
import { memoryLeases } from '../../test/memory-leases.js';
import { type ScriptedNode, startScriptedNode } from '../../test/scripted-node.js';
import { call, forwarders } from '../../test/test-forwarder.js';
import { collect, testContext, testSource, testUpstream } from '../../test/test-source.js';
import { createSpending } from './create-spending.js';

type Budget = Awaited<ReturnType<Parameters<typeof createSpending>[0]['budgets']['list']>>[number];

const { node, forwarderTo } = forwarders();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const plain: Budget = {
  provider: 'test',
  unit: 'requests',
  weights: {},
  reserve: 0.1,
  perSecond: null,
  perDay: null,
  perMonth: null,
};

async function budget(changes: Partial<Budget>, asked: { method: string; requests: number }[] = []) {
  const leases = memoryLeases();
  const spending = await createSpending({
    context: testContext(systemClock),
    table: {
      add: async () => undefined,
      forget: async () => undefined,
      upstreams: async () => asked.map((row) => ({ provider: 'test', ...row })),
    },
    budgets: { list: async () => [{ ...plain, ...changes }] },
    leases,
  });
  closers.push(() => spending.close());
  return { spending, leases };
}

async function scripted(): Promise<ScriptedNode> {
  const started = await startScriptedNode(({ method, params }) =>
    method === 'eth_getBlockByNumber'
      ? {
          number: params[0],
          hash: `0x${'11'.repeat(32)}`,
          parentHash: `0x${'22'.repeat(32)}`,
          transactions: [],
        }
      : '0x1',
  );
  closers.push(() => started.close());
  return started;
}
const getCalls = ({ requests }: ScriptedNode): number =>
  requests.reduce((sum, { calls }) => sum + calls.length, 0);

it('a call goes to the next node when the budget of the first is used up, and says so when there is none', async () => {
  const { spending } = await budget({ perDay: 2 });
  const [first, second] = [await node(() => '0x1'), await node(() => '0x2')];
  const upstreams = [{}, { provider: 'other' }];
  const { forwarder } = forwarderTo([first, second], { spending, upstreams });
  const answered = [1, 2, 3].map(() => call(forwarder));
  const upstreamsAsked = (await Promise.all(answered)).map((one) => 'upstream' in one && one.upstream);
  expect(upstreamsAsked.sort()).toEqual(['node-1', 'node-1', 'node-2']);

  const { forwarder: alone } = forwarderTo([first], { spending });
  expect(await call(alone)).toMatchObject({
    kind: 'failed',
    detail: 'the budget of a node is used up until 2026-12-01T00:00:00.000Z',
  });
  expect(getCalls(first)).toBe(2);
});

it('no call is sent while what is left cannot be counted', async () => {
  const { spending, leases } = await budget({ perDay: 2 });
  const one = await node();
  leases.away = true;
  const { forwarder } = forwarderTo([one], { spending });
  expect(await call(forwarder)).toMatchObject({ detail: 'the budget of a node cannot be counted now' });
  const { forwarder: free } = forwarderTo([one], { spending, upstreams: [{ provider: 'other' }] });
  expect(await call(free)).toMatchObject({ kind: 'result' });
  expect(getCalls(one)).toBe(1);
});

it('no store is asked where there is no budget', async () => {
  const { spending, leases } = await budget({ provider: 'other', perDay: 2 });
  const { forwarder } = forwarderTo([await node()], { spending });
  expect(await call(forwarder)).toMatchObject({ kind: 'result' });
  expect(leases.asked).toBe(0);
});

it('blocks come as far as a budget smaller than a window goes, and the rest names it', async () => {
  const { spending } = await budget({ perDay: 10 });
  const one = await scripted();
  const { source } = testSource([testUpstream(one.url)], { spending, context: testContext(systemClock) });
  closers.push(() => source.close());
  const mine = source.as({ owner: 'team', backfill: 7, use: 'backfill' });
  const blocks = await collect(
    mine.fetchBlocks({ firstBlock: 1, lastBlock: 40 }, { receipts: false, traces: false }),
  );
  expect(blocks.filter((block) => !('error' in block))).toHaveLength(9);
  for (const block of blocks) {
    if ('error' in block) expect(block.error).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
  }
  expect(getCalls(one)).toBe(9);
  // The reserve is for the head.
  expect(await source.blockHash(50)).toMatch(/^0x11/);
  await expect(source.blockHash(51)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
});

it('a budget of units begins with what its methods weighed since the month began', async () => {
  const weights = { eth_getLogs: 75, other: 10 };
  const asked = [
    { method: 'eth_getLogs', requests: 2 },
    { method: 'eth_call', requests: 3 },
  ];
  const { spending } = await budget({ unit: 'units', perMonth: 275, weights }, asked);
  const one = await node();
  const { forwarder } = forwarderTo([one], { spending });
  expect(await call(forwarder, { method: 'eth_getLogs' })).toMatchObject({ kind: 'result' });
  expect(await call(forwarder, { method: 'eth_getLogs' })).toMatchObject({ kind: 'failed' });
  expect(getCalls(one)).toBe(1);
});

it('requestsPerSecond of an upstream is one budget of all processes', async () => {
  const { spending, leases } = await budget({ provider: 'other' });
  const one = await node();
  const upstreams = [{ requestsPerSecond: 1_000 }];
  for (const { forwarder } of [0, 1].map(() => forwarderTo([one], { spending, upstreams })))
    await call(forwarder);
  expect([...leases.states.keys()]).toEqual(['testnet/node-1']);
  expect(JSON.parse(leases.states.get('testnet/node-1') ?? '')).toMatchObject({ ofDay: 2 });
});
