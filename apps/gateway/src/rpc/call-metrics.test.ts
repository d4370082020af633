import { createMetrics } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createCallMetrics } from './call-metrics.js';

it('adds calls up over several renderings, with codes out of a list', async () => {
  const metrics = createMetrics();
  const calls = createCallMetrics(metrics, async () => new Map([['n', 3]]))('n');
  calls.begin('eth_call', 'ph_a')('ok');
  calls.begin('eth_call', 'ph_b')('-32000');
  await metrics.render();
  for (let code = -50_000; code < -49_900; code++) calls.begin('eth_call', 'ph_a')(String(code));
  const open = calls.begin('eth_call', 'ph_a');
  const text = (await metrics.render()).split('\n');
  for (const line of [
    'packhouse_rpc_calls_total{network="n",method="eth_call",code="ok"} 1',
    'packhouse_rpc_calls_total{network="n",method="eth_call",code="-32000"} 1',
    'packhouse_rpc_calls_total{network="n",method="eth_call",code="other"} 100',
    'packhouse_rpc_key_calls_total{network="n",method="eth_call",key="ph_a"} 101',
    'packhouse_rpc_call_seconds_count{network="n",method="eth_call"} 102',
    'packhouse_rpc_in_flight{network="n"} 1',
    'packhouse_rpc_filters{network="n"} 3',
  ]) {
    expect(text).toContain(line);
  }
  expect(text.filter((line) => line.startsWith('packhouse_rpc_calls_total{'))).toHaveLength(3);
  open('ok');
  expect(await metrics.render()).toContain('packhouse_rpc_in_flight{network="n"} 0');
});

it('tells of everything else while the filters cannot be counted', async () => {
  const metrics = createMetrics();
  const calls = createCallMetrics(metrics, () => Promise.reject(new Error('the database is away')))('n');
  calls.refused('', '-32700');
  const text = await metrics.render();
  expect(text).toContain('packhouse_rpc_calls_total{network="n",method="other",code="-32700"} 1');
  expect(text).not.toMatch(/^packhouse_rpc_filters\{/m);
});
