import { systemClock } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { call, forwarders, getText, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

const hang = (): boolean => true;

it('rests a node that keeps silent, and counts each time', async () => {
  const [one, two] = [await node(), await node(() => 'two')];
  one.intercept = hang;
  const { forwarder, context } = forwarderTo([one, two]);
  for (let n = 0; n < 5; n++) {
    // Shorter than the time after which a second upstream is asked.
    expect(await call(forwarder, { timeoutMs: 60 })).toMatchObject({ kind: 'failed', reason: 'timeout' });
  }
  expect(forwarder.status()[0]?.healthy).toBe(false);
  expect(await context.metrics.render()).toContain(
    'packhouse_upstream_requests_total{network="testnet",upstream="node-1",method="m",outcome="timeout"} 5',
  );
  expect(await getText(await call(forwarder))).toBe('"two"');
  expect(one.requests).toHaveLength(5);
});

it('holds it against no node that a client goes away', async () => {
  const one = await node();
  one.intercept = hang;
  const { forwarder, context } = forwarderTo([one]);
  for (let n = 1; n <= 6; n++) {
    const stop = new AbortController();
    const asked = call(forwarder, { signal: stop.signal });
    await one.when(() => one.requests.length === n);
    stop.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
  }
  expect(forwarder.status()[0]).toMatchObject({ healthy: true, latencyMs: null });
  expect(await context.metrics.render()).not.toContain('outcome="timeout"');
});

it('prefers the other node once one was overtaken', async () => {
  const [one, two] = [await node(() => 'one'), await node(() => 'two')];
  one.intercept = hang;
  const { forwarder } = forwarderTo([one, two], { upstreams: [{ priority: 1 }, { priority: 1 }] });
  expect(await getText(await call(forwarder))).toBe('"two"');
  await until(() => (forwarder.status()[0]?.latencyMs ?? 0) >= 90);
  expect(await getText(await call(forwarder))).toBe('"two"');
  expect(one.requests).toHaveLength(1);
});

it('lets a node that rests go on resting where its one try is overtaken', async () => {
  let skew = 0;
  const clock = { ...systemClock, elapsed: () => performance.now() + skew };
  const [one, two] = [await node(), await node(() => 'two')];
  const { forwarder } = forwarderTo([one, two], { clock });
  one.intercept = (_, response) => Boolean(response.writeHead(500).end());
  for (let n = 0; n < 5; n++) await call(forwarder);
  expect(forwarder.status()[0]?.healthy).toBe(false);
  one.intercept = hang;
  skew += 1_000;
  for (let n = 0; n < 3; n++) expect(await getText(await call(forwarder))).toBe('"two"');
  expect(one.requests).toHaveLength(6);
});

it('lets nobody wait for a node’s rate beyond the time of the call', async () => {
  const one = await node();
  const { forwarder } = forwarderTo([one], { upstreams: [{ requestsPerSecond: 0.02 }] });
  await call(forwarder);
  const stop = new AbortController();
  const patient = call(forwarder, { signal: stop.signal, timeoutMs: 60_000 });
  expect(await call(forwarder, { timeoutMs: 50 })).toMatchObject({ kind: 'failed', reason: 'timeout' });
  expect(forwarder.status()[0]?.healthy).toBe(true);
  stop.abort(new Error('gone'));
  await expect(patient).rejects.toThrow('gone');
  expect(one.requests).toHaveLength(1);
});
