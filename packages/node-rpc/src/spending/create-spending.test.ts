import { systemClock } from '@packhouse/runtime';
import { afterEach, expect, it, vi } from 'vitest';
import { memoryLeases } from '../../test/memory-leases.js';
import { startScriptedNode } from '../../test/scripted-node.js';
import { call, forwarders } from '../../test/test-forwarder.js';
import { testContext, testSource, testUpstream } from '../../test/test-source.js';
import { createSpending } from './create-spending.js';

const { node, forwarderTo } = forwarders();
afterEach(() => vi.useRealTimers());

type Rows = Parameters<Parameters<typeof createSpending>[0]['table']['add']>[0];

async function ledger() {
  const written: Rows[number][] = [];
  const state = { away: false };
  const table = {
    add: async (rows: Rows) => {
      if (state.away) throw new Error('away');
      written.push(...rows);
    },
    upstreams: async () => [],
    forget: async () => undefined,
  };
  const context = testContext(systemClock);
  const parts = { context, table, budgets: { list: async () => [] }, leases: memoryLeases() };
  return { spending: await createSpending(parts), written, state, lines: context.lines };
}

it('counts forwarded calls by method and owner, with the bytes that came', async () => {
  const { spending, written } = await ledger();
  const one = await node(() => '0x1');
  const { forwarder } = forwarderTo([one], { spending });
  await call(forwarder, { method: 'eth_call', account: { owner: 'team' } });
  await call(forwarder, { method: 'eth_call', account: { owner: 'team' } });
  await call(forwarder, { method: 'eth_getLogs' });
  await spending.close();
  const facts = { network: 'testnet', upstream: 'node-1', provider: 'test', backfill: null };
  expect(written).toMatchObject([
    { ...facts, method: 'eth_call', owner: 'team', requests: 2, units: 2 },
    { ...facts, method: 'eth_getLogs', owner: '-', requests: 1, units: 1 },
  ]);
  for (const row of written) expect(row.bytes).toBeGreaterThan(10 * row.requests);
});

it('counts every call of a batch for the range that it was sent for', async () => {
  const { spending, written } = await ledger();
  const scripted = await startScriptedNode(() => null);
  const { source } = testSource([testUpstream(scripted.url)], { spending });
  try {
    const mine = source.as({ owner: 'team', backfill: 7 });
    await mine.headers([1, 2, 3]);
    await source.headers([4]);
    await spending.close();
    expect(written).toMatchObject([
      { method: 'eth_getBlockByNumber', owner: '-', backfill: null, requests: 1 },
      { method: 'eth_getBlockByNumber', owner: 'team', backfill: 7, requests: 3 },
    ]);
  } finally {
    await source.close();
    await scripted.close();
  }
});

it('writes every two seconds, and keeps what could not be written', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { spending, written, state, lines } = await ledger();
  const upstream = spending.of('main', { name: 'a', provider: 'p' });
  state.away = true;
  upstream.sent('m', 2, { owner: 'o' });
  await vi.advanceTimersByTimeAsync(2_000);
  upstream.sent('m', 3, { owner: 'o' });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(written).toEqual([]);
  expect(lines.filter((line) => line.includes('not written'))).toHaveLength(1);
  state.away = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(written).toMatchObject([{ network: 'main', upstream: 'a', requests: 5 }]);
  await spending.close();
  expect(written).toHaveLength(1);
});
