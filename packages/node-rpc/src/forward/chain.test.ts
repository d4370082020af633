import { expect, it } from 'vitest';
import { type Handler, RpcError } from '../../test/scripted-node.js';
import { call, forwarders, getText, skewedClock, timesAsked, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

/** A node of a chain that has so many blocks. */
function onChain(chainId: number, head: number): Handler {
  return ({ method, params }) => {
    if (method === 'eth_chainId') return `0x${chainId.toString(16)}`;
    if (method === 'm') return chainId;
    return { number: `0x${(params[0] === 'finalized' ? head - 2 : head).toString(16)}` };
  };
}

const evm = { family: 'evm', chainId: 1 } as const;

it('does not ask a node of another chain, however preferred and however far it is', async () => {
  const [other, right] = [await node(onChain(2, 900)), await node(onChain(1, 60))];
  const { forwarder, context } = forwarderTo([other, right], { network: evm });
  await until(() => forwarder.head() === 60);
  await until(() => forwarder.status()[0]?.healthy === false);
  expect(await getText(await call(forwarder))).toBe('1');
  expect(timesAsked(other, 'm')).toBe(0);
  expect([forwarder.head(), forwarder.finalized()]).toEqual([60, 58]);
  expect(forwarder.status()[0]).toMatchObject({ healthy: false, head: null });
  const metrics = await context.metrics.render();
  expect(metrics).toContain('packhouse_upstream_healthy{network="testnet",upstream="node-1"} 0');
  expect(metrics).toContain('packhouse_upstream_healthy{network="testnet",upstream="node-2"} 1');
  const told = context.lines.filter((line) => line.includes('another chain'));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] as string)).toMatchObject({ upstream: 'node-1', expected: 1, got: 2 });
});

it('has nobody to ask where all are of another chain', async () => {
  const { forwarder } = forwarderTo([await node(onChain(2, 9))], { network: evm });
  await until(() => forwarder.status()[0]?.healthy === false);
  expect(await call(forwarder)).toMatchObject({ kind: 'failed', reason: 'unavailable' });
});

it('asks again every minute, says it once, and asks a node that is right again like any other', async () => {
  const { clock, skew } = skewedClock();
  const one = await node(onChain(2, 9));
  const { forwarder, context } = forwarderTo([one], { network: evm, clock });
  await until(() => forwarder.status()[0]?.healthy === false);
  // A network that is in use: an idle one is asked rarely.
  const inUse = () => forwarder.head() === null;
  expect(inUse()).toBe(true);
  skew.ms += 60_000;
  await until(() => inUse() && timesAsked(one, 'eth_chainId') === 2);
  skew.ms += 60_000;
  await until(() => inUse() && timesAsked(one, 'eth_chainId') === 3);
  expect(forwarder.status()[0]?.healthy).toBe(false);
  expect(context.lines.filter((line) => line.includes('another chain'))).toHaveLength(1);
  one.handler = onChain(1, 9);
  skew.ms += 60_000;
  await until(() => forwarder.head() === 9);
  expect(forwarder.status()[0]?.healthy).toBe(true);
  expect(await getText(await call(forwarder))).toBe('1');
  expect(await context.metrics.render()).toContain(
    'packhouse_upstream_healthy{network="testnet",upstream="node-1"} 1',
  );
});

it('finds within its rest that a node came back as one of another chain', async () => {
  const one = await node(onChain(1, 60));
  const { forwarder, context } = forwarderTo([one], { network: evm });
  await until(() => forwarder.head() === 60);
  one.intercept = (_, response) => Boolean(response.writeHead(500).end());
  await until(() => forwarder.status()[0]?.healthy === false);
  one.handler = onChain(2, 900);
  one.intercept = null;
  await until(() => context.lines.some((line) => line.includes('another chain')));
  expect([forwarder.head(), forwarder.finalized()]).toEqual([null, null]);
});

it.each<[string, () => unknown]>([
  [
    'refuses to tell its chain',
    () => {
      throw new RpcError(-32601, 'the method does not exist');
    },
  ],
  ['tells none', () => null],
])('believes a node that %s', async (_, chain) => {
  const right = onChain(1, 60);
  const one = await node((asked) => (asked.method === 'eth_chainId' ? chain() : right(asked)));
  const { forwarder } = forwarderTo([one], { network: evm });
  await until(() => forwarder.finalized() === 58);
  expect(await getText(await call(forwarder))).toBe('1');
});

it('serves clients while a node has not said yet which chain it is on, and counts no head of it', async () => {
  const right = onChain(1, 60);
  const one = await node(right);
  one.intercept = ({ calls }) => calls[0]?.method === 'eth_chainId';
  const { forwarder } = forwarderTo([one], { network: evm });
  await one.when(() => timesAsked(one, 'eth_chainId') === 1);
  expect(await getText(await call(forwarder))).toBe('1');
  expect(forwarder.head()).toBeNull();
});

it.each([
  [{ networkId: '0x405', chainId: '0x1' }, true],
  [{ chainId: '0x405' }, true],
  [{ networkId: '0x1', chainId: '0x1' }, false],
])('asks core nodes by the names that they know: %j is the network: %s', async (status, right) => {
  const one = await node(({ method }) => {
    if (method === 'own_getStatus') return status;
    return method === 'own_epochNumber' ? '0x7' : 'm';
  });
  const network = { family: 'core', chainId: 1029, rpc: { aliases: { core_: 'own_' } } as never } as const;
  const { forwarder } = forwarderTo([one], { network });
  if (right) await until(() => forwarder.head() === 7);
  else await until(() => forwarder.status()[0]?.healthy === false);
  expect(await call(forwarder)).toMatchObject({ kind: right ? 'result' : 'failed' });
});
