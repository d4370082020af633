import { systemClock } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { answer, envelopes, RpcError, type ScriptedNode } from '../../test/scripted-node.js';
import { call, forwarders, getText, until } from '../../test/test-forwarder.js';
import { createOwnSpending } from '../spending/spending.js';
import type { Forwarder } from './forwarder.js';

const { forwarderTo: open, node } = forwarders();

/** A forwarder that may join the calls to its nodes. */
const forwarderTo = (nodes: readonly ScriptedNode[], options: Parameters<typeof open>[1] = {}) =>
  open(nodes, {
    ...options,
    upstreams: nodes.map((_, at) => ({ batchCalls: true, ...options.upstreams?.[at] })),
  });

const params = (n: number): string => JSON.stringify([n]);

/** A node that answers with the parameter of each call. */
const echo = (): Promise<ScriptedNode> => node(({ params: [n = 0] }) => n);

/** Calls with the parameters 0 to `calls` - 1, at the same moment. */
const callAll = (forwarder: Forwarder, calls: number, changes = {}) =>
  Array.from({ length: calls }, (_, n) => call(forwarder, { params: params(n), ...changes }));

/** The forwarder has timed single calls of its node. */
async function warm(forwarder: Forwarder): Promise<void> {
  for (let n = 0; n < 4; n++) await call(forwarder);
}

async function batches(context: { metrics: { render(): Promise<string> } }): Promise<Record<string, number>> {
  const found = (await context.metrics.render()).matchAll(/batches_total\{.*outcome="(\w+)"\} (\d+)/g);
  return Object.fromEntries([...found].map(([, outcome, count]) => [outcome, Number(count)]));
}

const batchesOf = ({ requests }: ScriptedNode) => requests.filter(({ batch }) => batch);

it('sends calls of one moment as one batch, and gives each its own answer', async () => {
  const one = await node(({ params: [n = 0] }) => {
    if (n === 2) throw new RpcError(3, 'execution reverted');
    return n;
  });
  one.intercept = (request, response) => {
    if (!request.batch) return false;
    // In any order.
    response.end(JSON.stringify(envelopes(request, one.handler).reverse()));
    return true;
  };
  const { forwarder, context } = forwarderTo([one]);
  await warm(forwarder);
  const answers = await Promise.all(callAll(forwarder, 4));
  expect(batchesOf(one).map(({ calls }) => calls.length)).toEqual([4]);
  expect(await Promise.all([0, 1, 3].map((n) => getText(answers[n] as (typeof answers)[0])))).toEqual([
    '0',
    '1',
    '3',
  ]);
  expect(answers[2]).toMatchObject({ kind: 'error', code: 3, message: 'execution reverted' });
  expect(await batches(context)).toEqual({ ok: 1 });
});

it('sends calls alone that have no company, that must not be repeated, or if the operator says so', async () => {
  const [one, other] = [await echo(), await echo()];
  const { forwarder } = forwarderTo([one]);
  await warm(forwarder);
  await call(forwarder);
  await Promise.all(callAll(forwarder, 4, { idempotent: false }));
  const off = forwarderTo([other], { upstreams: [{ batchCalls: false }] }).forwarder;
  await warm(off);
  await Promise.all(callAll(off, 4));
  expect([batchesOf(one), batchesOf(other)]).toEqual([[], []]);
});

it('takes one place among the requests in flight for a batch, and those along that wait for one', async () => {
  const one = await echo();
  const { forwarder } = forwarderTo([one], { upstreams: [{ maxInFlight: 4 }] });
  await warm(forwarder);
  const answers = await Promise.all(callAll(forwarder, 40));
  expect(await Promise.all(answers.map(getText))).toEqual(answers.map((_, n) => String(n)));
  expect(one.mostInFlight).toBeLessThanOrEqual(4);
  expect(one.requests.length).toBeLessThan(30);
});

it.each([
  ['a list that lacks answers', (text: string) => text.replace(/^\[.*?\},/, '[')],
  ['a list that breaks off', (text: string) => text.slice(0, -5)],
  [
    'an error for all',
    () => '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"batching is not supported"}}',
  ],
  ['a single answer', (text: string) => text.slice(1, text.indexOf('}') + 1)],
  ['a single answer to another request', () => '{"jsonrpc":"2.0","id":0,"result":7}'],
  ['an answer to another request', (text: string) => text.replace(/"id":/, '"id":9')],
  ['answers without ids', (text: string) => text.replaceAll('"id"', '"no"')],
  ['HTML', () => '<html>'],
  [
    'a second answer to one call',
    (text: string) => text.replace('},', `},${text.slice(1, text.indexOf('}') + 1)},`),
  ],
  ['more than a mebibyte', (text: string) => text.replace(']', ' '.repeat(2 ** 20))],
])('asks once more for what has no answer in %s, and then sends single calls', async (_, change) => {
  const one = await echo();
  one.intercept = (request, response) => {
    if (!request.batch) return false;
    response.end(change(JSON.stringify(envelopes(request, one.handler))));
    return true;
  };
  const { forwarder, context } = forwarderTo([one]);
  await warm(forwarder);
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(callAll(forwarder, 4));
    expect(await Promise.all(answers.map(getText))).toEqual(['0', '1', '2', '3']);
  }
  // The first one that fails is the last for a while.
  expect(batchesOf(one).map(({ calls }) => calls.length)).toEqual([4]);
  const { ok: _ok, ...failed } = await batches(context);
  expect(Object.values(failed).reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(forwarder.status()).toMatchObject([{ healthy: true }]);
});

it('asks once more if the connection breaks, or a batch takes longer than single calls', async () => {
  const one = await echo();
  let isLate = false;
  let isGood = true;
  one.intercept = (request, response, raw) => {
    if (!request.batch || isGood) return false;
    if (!isLate) raw.socket.destroy();
    else void response;
    return true;
  };
  const { forwarder, context } = forwarderTo([one]);
  await warm(forwarder);
  await Promise.all(callAll(forwarder, 2));
  isGood = false;
  expect(await Promise.all((await Promise.all(callAll(forwarder, 3))).map(getText))).toEqual(['0', '1', '2']);
  isLate = true;
  expect(await Promise.all((await Promise.all(callAll(forwarder, 2))).map(getText))).toEqual(['0', '1']);
  expect(await batches(context)).toEqual({ ok: 1, broken: 1, late: 1 });
});

it('does not repeat calls that the node asks to slow down', async () => {
  const [one, other] = [await echo(), await node(() => 'other')];
  one.intercept = ({ batch }, response) =>
    batch && Boolean(response.writeHead(429, { 'retry-after': '60' }).end('slow down'));
  const { forwarder } = forwarderTo([one, other]);
  await warm(forwarder);
  const before = one.requests.length;
  const answers = await Promise.all(callAll(forwarder, 4));
  expect(await Promise.all(answers.map(getText))).toEqual(Array(4).fill('"other"'));
  expect(one.requests.length).toBe(before + 1);
});

it('ends a call of a batch alone, and the request when nobody waits for it', async () => {
  const one = await echo();
  let respond = (): void => undefined;
  one.intercept = (request, response) => {
    if (!request.batch) return false;
    respond = () => answer(request, response, one.handler);
    return true;
  };
  const { forwarder } = forwarderTo([one], { upstreams: [{ maxInFlight: 8 }] });
  await warm(forwarder);
  for (let n = 0; n < 20; n++) await call(forwarder);
  const stop = [new AbortController(), new AbortController()];
  const start = () =>
    stop.map(({ signal }, n) =>
      call(forwarder, { params: params(n), signal }).catch((error: unknown) => error),
    );
  const first = start();
  await one.when(() => batchesOf(one).length === 1);
  stop[0]?.abort('gone');
  expect(await first[0]).toBe('gone');
  respond();
  expect(await getText((await first[1]) as never)).toBe('1');
  stop[0] = new AbortController();
  const second = start();
  await one.when(() => batchesOf(one).length === 2);
  for (const each of stop) each.abort('gone');
  expect(await Promise.all(second)).toEqual(['gone', 'gone']);
  await until(() => one.inFlight === 0);
  expect(forwarder.status()).toMatchObject([{ healthy: true, inFlight: 0 }]);
});

it('counts each call of a batch, and one that is asked for once more twice', async () => {
  const one = await echo();
  const sent: number[] = [];
  const own = createOwnSpending(systemClock);
  const spending = {
    of: (...args: Parameters<typeof own.of>) => ({
      ...own.of(...args),
      sent: (_: string, calls: number) => void sent.push(calls),
    }),
  };
  const { forwarder } = forwarderTo([one], { spending });
  await warm(forwarder);
  await Promise.all(callAll(forwarder, 4));
  expect(sent).toEqual(Array(8).fill(1));
  one.intercept = ({ batch }, response) => batch && Boolean(response.end('no'));
  await Promise.all(callAll(forwarder, 4));
  expect(sent).toEqual(Array(16).fill(1));
});
