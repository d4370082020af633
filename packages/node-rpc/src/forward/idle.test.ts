import { systemClock } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import type { Handler, ScriptedNode } from '../../test/scripted-node.js';
import { call, forwarders, getText, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

function at(head: number): Handler {
  return ({ method, params }) => {
    if (method === 'eth_chainId') return '0x1';
    if (method === 'm') return head;
    return { number: `0x${(params[0] === 'finalized' ? head - 2 : head).toString(16)}` };
  };
}

/** Pauses between two questions of a network in use, and of one that is not. */
const [BUSY_MS, IDLE_MS] = [100, 45_000];

/** A forwarder to two nodes that nobody used for long; both had block 60 then. */
async function idle() {
  const skew = { ms: 0 };
  const slept: number[] = [];
  const clock: typeof systemClock = {
    ...systemClock,
    elapsed: () => performance.now() + skew.ms,
    sleep: (ms, signal) => {
      slept.push(ms);
      return systemClock.sleep(ms, signal);
    },
  };
  const nodes = [await node(at(60)), await node(at(60))] as [ScriptedNode, ScriptedNode];
  const { forwarder } = forwarderTo(nodes, { network: { family: 'evm', chainId: 1 }, clock });
  await until(() => forwarder.status().every(({ head }) => head === 60));
  expect(slept).not.toContain(IDLE_MS);
  skew.ms += 300_001;
  await until(() => slept.filter((ms) => ms === IDLE_MS).length === nodes.length);
  return { forwarder, nodes, skew, slept };
}

it('a network that nobody uses is asked rarely, and its first call knows what happened meanwhile', async () => {
  const { forwarder, nodes, slept } = await idle();
  nodes[1].handler = at(70);
  expect(await getText(await call(forwarder, { block: 'tip' }))).toBe('70');
  expect(forwarder.head()).toBe(70);
  // They are asked as often as before.
  const used = slept.length;
  await until(() => slept.slice(used).filter((ms) => ms === BUSY_MS).length > 6);
  expect(slept.slice(used)).not.toContain(IDLE_MS);
});

it('who asks for the newest block after a while gets that of now', async () => {
  const { forwarder, nodes } = await idle();
  nodes[1].handler = at(70);
  expect(await forwarder.newest()).toBe(70);
});

it('who asks for the final block after a while gets that of now', async () => {
  const { forwarder, nodes } = await idle();
  for (const one of nodes) one.handler = at(70);
  expect(await forwarder.taggedBlock('finalized')).toBe(68);
});

it('the first call after a while does not wait for a node that hangs', async () => {
  const { forwarder, nodes } = await idle();
  nodes[0].intercept = () => true;
  nodes[1].handler = at(70);
  expect(await getText(await call(forwarder, { block: 'tip' }))).toBe('70');
});

it('a node that became one of another chain meanwhile is not asked', async () => {
  const { forwarder, nodes } = await idle();
  nodes[0].handler = (seen) => (seen.method === 'eth_chainId' ? '0x2' : at(900)(seen));
  expect(await getText(await call(forwarder))).toBe('60');
});
