import { expect, it } from 'vitest';
import { call, countHedges, forwarders, getText } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

const hang = (): boolean => true;

it('asks two nodes at once and never a third', async () => {
  const nodes = [await node(), await node(), await node()];
  for (const one of nodes) one.intercept = hang;
  const { forwarder, context } = forwarderTo(nodes);
  // The second is asked after 100 ms: there is time for it on a slow machine too.
  expect(await call(forwarder, { timeoutMs: 3_000 })).toMatchObject({ kind: 'failed', reason: 'timeout' });
  expect(nodes.map(({ requests }) => requests.length)).toEqual([1, 1, 0]);
  expect(await countHedges(context)).toBe(1);
});

it('asks nobody beside a slow node who wants a pause', async () => {
  const [one, two] = [await node(), await node()];
  const { forwarder, context } = forwarderTo([one, two]);
  one.intercept = (_, response) => Boolean(response.writeHead(500).end());
  two.intercept = (_, response) => Boolean(response.writeHead(503, { 'retry-after': '60' }).end());
  expect(await call(forwarder)).toMatchObject({ kind: 'failed', reason: 'unavailable' });
  one.intercept = hang;
  expect(await call(forwarder, { timeoutMs: 400 })).toMatchObject({ kind: 'failed', reason: 'timeout' });
  expect(two.requests).toHaveLength(1);
  expect(await countHedges(context)).toBe(0);
});

it('does not take a method that always takes long for a slow node', async () => {
  const nodes = [await node(() => 'one'), await node(() => 'two')];
  /** Another node is asked after four times as long: on a slow machine too, the next answer is there much earlier. */
  let heavyMs = 700;
  for (const one of nodes) {
    one.intercept = async ({ calls }) => {
      if (calls[0]?.method === 'heavy') await new Promise((resolve) => setTimeout(resolve, heavyMs));
      return false;
    };
  }
  const { forwarder, context } = forwarderTo(nodes);
  await getText(await call(forwarder, { method: 'heavy' }));
  for (let n = 0; n < 40; n++) await getText(await call(forwarder));
  // Longer than the other method may take.
  heavyMs = 300;
  const before = await countHedges(context);
  await getText(await call(forwarder, { method: 'heavy' }));
  expect(await countHedges(context)).toBe(before);
});
