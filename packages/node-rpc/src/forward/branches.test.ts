import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  ask,
  type ChainNode,
  chainNode,
  forwarderToChains,
  hashOf,
  POLL_MS,
  random,
  told,
} from '../../test/chain-pool.js';
import { call } from '../../test/test-forwarder.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (polls = 2): Promise<unknown> => vi.advanceTimersByTimeAsync(polls * POLL_MS);

/** A pool with a branch that fewer nodes have, in any order. */
function seededPool(seed: number) {
  const below = random(seed);
  const minority = 1 + below(2);
  const majority = minority + 1 + below(2);
  const fork = 95 + below(10);
  const nodes = Array.from({ length: minority + majority }, (_, at) =>
    chainNode({
      head: 100 + below(4),
      final: 88 + below(3),
      branch: at < minority ? { from: fork, name: `branch ${below(2)}` } : null,
    }),
  );
  nodes.sort(() => below(3) - 1);
  for (const [at, node] of nodes.entries()) node.name = `node-${at + 1}`;
  return { below, fork, nodes };
}

function grow(nodes: readonly ChainNode[], below: (most: number) => number): void {
  for (const node of nodes) {
    if (!node.alive) continue;
    const more = 1 + below(4);
    node.head += more;
    node.final = (node.final ?? 0) + more;
  }
}

it('tells no block of a minority in any of 200 pools in which a node is killed', async () => {
  const wrong: string[] = [];
  const counts = { told: 0, refused: 0, left: 0 };
  for (let seed = 1; seed <= 200; seed++) {
    const { below, fork, nodes } = seededPool(seed);
    const { context, findings, forwarder } = forwarderToChains(nodes);
    const killedAt = below(8);
    for (let round = 0; round < 9; round++) {
      if (round === killedAt) (nodes[below(nodes.length)] as ChainNode).alive = false;
      grow(nodes, below);
      await pass();
      // Before all hold the fork to be final, a branch is one that may still win.
      if (nodes.some(({ final }) => (final ?? 0) <= fork)) continue;
      for (const block of ['latest', fork + below(3), fork - 1] as const) {
        const answer = told(await ask(forwarder, block));
        if (answer === null) counts.refused += 1;
        else if (answer.hash === hashOf(Number(answer.number))) counts.told += 1;
        else wrong.push(`seed ${seed}: round ${round}: block ${block} told as ${JSON.stringify(answer)}`);
      }
    }
    counts.left += findings.filter(({ kind }) => kind === 'minority').length;
    const closing = forwarder.close();
    await pass();
    await closing;
    expect(context.lines.filter((line) => line.includes('TypeError'))).toEqual([]);
  }
  expect(wrong).toEqual([]);
  expect(counts.told).toBeGreaterThan(2 * counts.refused);
  expect(counts.left).toBeGreaterThan(200);
}, 120_000);

/** Three nodes, of which the first has another branch from block 95 on. */
function threeNodes(): [ChainNode, ChainNode, ChainNode] {
  const branch = { from: 95, name: 'other' };
  return [
    chainNode({ name: 'a', branch }),
    chainNode({ name: 'b', head: 101, final: 91 }),
    chainNode({ name: 'c' }),
  ];
}
const advance = (nodes: readonly ChainNode[], by: number): void => {
  for (const node of nodes) {
    node.head += by;
    node.final = (node.final ?? 0) + by;
  }
};

it('leaves a minority out by name and with its reason, and takes it back when it agrees', async () => {
  const nodes = threeNodes();
  const { findings, forwarder } = forwarderToChains(nodes);
  await pass();
  expect(findings).toEqual([]);
  advance(nodes, 10);
  await pass();
  const reason = `its final block 100 is ${hashOf(100, nodes[0].branch)}, that of b and c is ${hashOf(100)}`;
  expect(findings).toEqual([{ kind: 'minority', upstream: 'a', reason }]);
  expect(forwarder.status().map(({ healthy }) => healthy)).toEqual([false, true, true]);
  expect(told(await ask(forwarder, 105))?.hash).toBe(hashOf(105));

  // It is not believed because the others are gone.
  for (const node of nodes.slice(1)) node.alive = false;
  await pass(5);
  expect(told(await ask(forwarder, 105))).toBeNull();
  for (const node of nodes.slice(1)) node.alive = true;
  nodes[0].branch = null;
  advance(nodes, 1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(forwarder.status().map(({ healthy }) => healthy)).toEqual([true, true, true]);
  const closing = forwarder.close();
  await pass();
  await closing;
});

it('asks each node once for each common height, and not for what it told', async () => {
  const nodes = threeNodes();
  nodes[0].branch = null;
  const { forwarder } = forwarderToChains(nodes);
  await pass(10);
  const headers = (): number[] => nodes.map((node) => node.headers);
  // The genesis of each; and of b, whose final block is a newer one.
  expect(headers()).toEqual([1, 2, 1]);
  for (let n = 1; n <= 5; n++) {
    advance(nodes, 1);
    await pass();
    expect(headers()).toEqual([1, 2, 1]);
  }
  const closing = forwarder.close();
  await pass();
  await closing;
});

it('believes nobody in a tie beyond what all agreed about, and says who has what', async () => {
  const [a, b] = threeNodes();
  const { findings, forwarder } = forwarderToChains([a, b]);
  await pass();
  advance([a, b], 10);
  await pass();
  expect(findings).toMatchObject([{ kind: 'tie', upstream: null }]);
  expect(told(await ask(forwarder, 90))?.hash).toBe(hashOf(90));
  for (const block of ['latest', 95] as const) {
    const answer = await ask(forwarder, block);
    const reason = `nodes disagree: block 100 is ${hashOf(100, a.branch)} by a, ${hashOf(100)} by b; none of them is believed beyond block 91`;
    expect(answer).toEqual({ kind: 'failed', reason: 'unavailable', detail: reason });
  }
  // Of block 91 one told the hash when it was the final block of the other.
  expect(forwarder.finalized()).toBe(91);
  expect(await call(forwarder, { method: 'eth_chainId' })).toMatchObject({ kind: 'result' });
  // One of them going away decides nothing.
  a.alive = false;
  await pass();
  expect(told(await ask(forwarder, 'latest'))).toBeNull();
  a.alive = true;
  a.branch = null;
  advance([a, b], 1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told(await ask(forwarder, 'latest'))?.hash).toBe(hashOf(112));
  const closing = forwarder.close();
  await pass();
  await closing;
});

it('raises the epoch for what is left out, and for a node that changes a final block, its genesis or its chain', async () => {
  const nodes = threeNodes();
  const { findings, forwarder } = forwarderToChains(nodes);
  await pass();
  expect(forwarder.epoch()).toBe(0);
  advance(nodes, 10);
  await pass();
  expect(forwarder.epoch()).toBe(1);

  nodes[1].chainId = 2;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(findings.map(({ kind }) => kind)).toEqual(['minority', 'another-chain']);
  expect(forwarder.epoch()).toBe(2);

  // The same final block has another hash now.
  nodes[2].branch = { from: 99, name: 'third' };
  await vi.advanceTimersByTimeAsync(60_000);
  expect(findings.at(-1)).toMatchObject({ kind: 'changed', upstream: 'c' });
  expect(forwarder.epoch()).toBeGreaterThan(2);
  const closing = forwarder.close();
  await pass();
  await closing;
});

it('notices that a lone node is of a chain that began again', async () => {
  const node = chainNode({ name: 'a', head: 1_000, final: 900 });
  const { findings, forwarder } = forwarderToChains([node]);
  await pass();
  Object.assign(node, { head: 20, final: 10, branch: { from: 0, name: 'again' } });
  await pass(4);
  expect(findings).toMatchObject([
    { kind: 'changed', upstream: 'a', reason: expect.stringContaining('final block 0,') },
  ]);
  expect(forwarder.epoch()).toBe(1);
  const closing = forwarder.close();
  await pass();
  await closing;
});

it('lets no node judge that stands still on a block which its chain left', async () => {
  const stuck = chainNode({ name: 'a', branch: { from: 95, name: 'left' } });
  const [, well] = threeNodes();
  const { forwarder } = forwarderToChains([stuck, well]);
  await pass();
  for (let minutes = 0; minutes < 4; minutes++) {
    well.head += 5;
    await vi.advanceTimersByTimeAsync(60_000);
  }
  well.head = 500;
  await pass();
  expect(told(await ask(forwarder, 'latest'))?.hash).toBe(hashOf(500));
  const closing = forwarder.close();
  await pass();
  await closing;
});

it('does not tell the head of a lone node that is far ahead until its chain contains that of the others', async () => {
  const lone = chainNode({ name: 'a', branch: { from: 95, name: 'other' } });
  const [, b, c] = threeNodes();
  const { forwarder } = forwarderToChains([lone, b, c]);
  await pass();
  lone.head = 500;
  await pass();
  expect(told(await ask(forwarder, 'latest'))?.number).toBe('0x65');
  expect(told(await ask(forwarder, 300))).toBeNull();
  expect(forwarder.head()).toBe(101);
  lone.branch = null;
  await pass();
  expect(told(await ask(forwarder, 'latest'))?.hash).toBe(hashOf(500));
  const closing = forwarder.close();
  await pass();
  await closing;
});
