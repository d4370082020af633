import { expect, it } from 'vitest';
import { call, changeTimers, forwarders, getText, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

/** A node that answers `slow` only when it is told to. */
async function slowNode() {
  const one = await node(({ method }) => method);
  const held: (() => void)[] = [];
  one.intercept = async (request) => {
    if (request.calls[0]?.method === 'slow') await new Promise<void>((resolve) => held.push(resolve));
    return false;
  };
  return { one, held, answerOne: () => held.shift()?.() };
}
const slow = (caller: string, timeoutMs = 600_000) => ({
  method: 'slow',
  caller,
  timeoutMs,
  idempotent: false,
});

it('a caller with many slow calls leaves the next connection to another', async () => {
  const { one, held, answerOne } = await slowNode();
  const { forwarder } = forwarderTo([one], { upstreams: [{ maxInFlight: 4 }] });
  const greedy = Array.from({ length: 40 }, () => call(forwarder, slow('greedy')));
  await until(() => held.length === 4);
  const modest = call(forwarder, { method: 'quick', caller: 'modest' });
  answerOne();
  expect(await getText(await modest)).toBe('"quick"');
  // Again a connection is free for whom it was not.
  await until(() => held.length === 3);
  for (let n = 0; n < 5; n++) {
    expect(await getText(await call(forwarder, { method: 'quick', caller: 'modest' }))).toBe('"quick"');
  }
  expect(one.mostInFlight).toBeLessThanOrEqual(4);
  const answering = setInterval(() => answerOne(), 1);
  for (const each of greedy) expect(await getText(await each)).toBe('"slow"');
  clearInterval(answering);
});

it('a call that waited for a connection all its time is held against no node', async () => {
  const { one, held, answerOne } = await slowNode();
  const { forwarder, context } = forwarderTo([one], { upstreams: [{ maxInFlight: 1 }] });
  const first = call(forwarder, slow('greedy'));
  await until(() => held.length === 1);
  for (let n = 0; n < 6; n++) {
    expect(await call(forwarder, { timeoutMs: 50, caller: 'modest' })).toMatchObject({
      kind: 'failed',
      reason: 'busy',
      retryAfterMs: 1_000,
    });
  }
  answerOne();
  expect(await getText(await first)).toBe('"slow"');
  expect(forwarder.status()[0]).toMatchObject({ healthy: true });
  expect(await context.metrics.render()).not.toContain('outcome="timeout"');
  expect(one.requests).toHaveLength(1);
});

it('a caller has so many calls waiting at most, and others are not refused', async () => {
  const { one, held } = await slowNode();
  const { forwarder } = forwarderTo([one], { upstreams: [{ maxInFlight: 1 }] });
  const stop = new AbortController();
  const signal = stop.signal;
  const waiting = Array.from({ length: 1_001 }, () => call(forwarder, { ...slow('greedy'), signal }));
  for (const each of waiting) each.catch(() => undefined);
  await until(() => held.length === 1);
  expect(await call(forwarder, slow('greedy'))).toMatchObject({ kind: 'failed', reason: 'busy' });
  const modest = call(forwarder, { method: 'quick', caller: 'modest' });
  stop.abort(new Error('gone'));
  expect(await getText(await modest)).toBe('"quick"');
});

it('a full node leaves the call to the next one', async () => {
  const { one, held } = await slowNode();
  const two = await node(() => 'two');
  const { forwarder } = forwarderTo([one, two], { upstreams: [{ maxInFlight: 1 }] });
  void call(forwarder, slow('greedy')).catch(() => undefined);
  await until(() => held.length === 1);
  expect(await getText(await call(forwarder, { method: 'slow', caller: 'greedy' }))).toBe('"two"');
});

it('a reader that takes nothing frees the connection', async () => {
  const one = await node(({ method }) => (method === 'large' ? 'ab'.repeat(10_000_000) : 'quick'));
  const { forwarder } = forwarderTo([one], { upstreams: [{ maxInFlight: 1 }] });
  // The ten seconds that a reader has.
  changeTimers({ 10000: 20 });
  const large = await call(forwarder, { method: 'large', caller: 'greedy', timeoutMs: 600_000 });
  expect(await getText(await call(forwarder, { caller: 'modest' }))).toBe('"quick"');
  await expect(getText(large)).rejects.toThrow('the answer was not read');
});

it('a stream keeps its connection until its end', async () => {
  const one = await node(({ method }) => (method === 'large' ? 'ab'.repeat(5_000_000) : 'quick'));
  const { forwarder } = forwarderTo([one], { upstreams: [{ maxInFlight: 1 }] });
  const large = await call(forwarder, { method: 'large' });
  const next = call(forwarder);
  expect((await getText(large)).length).toBe(10_000_002);
  expect(await getText(await next)).toBe('"quick"');
  expect(one.mostInFlight).toBe(1);
  for (let n = 0; n < 3; n++) {
    const left = await call(forwarder, { method: 'large' });
    if (left.kind === 'result') for await (const _ of left.body.rest ?? []) break;
  }
  expect(await getText(await call(forwarder))).toBe('"quick"');
});
