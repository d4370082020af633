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
import type { Forwarder } from './forwarder.js';
import type { SharedTips, TipTag } from './tip/shared-tips.js';

const FINAL_DEPTH = 32;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (polls = 1): Promise<unknown> => vi.advanceTimersByTimeAsync(polls * POLL_MS);

async function close(...forwarders: Forwarder[]): Promise<void> {
  const closing = Promise.all(forwarders.map((one) => one.close()));
  await pass();
  await closing;
}

function advance(nodes: readonly ChainNode[], by: number): void {
  for (const node of nodes) {
    node.head += by;
    node.final = node.head - FINAL_DEPTH;
  }
}

/** Three nodes at block 799, of which the first goes to a branch from 800 on and is 50 blocks ahead. */
async function forkedPool(tips?: SharedTips) {
  const nodes = ['a', 'b', 'c'].map((name) => chainNode({ name, head: 799, final: 799 - FINAL_DEPTH }));
  const [a, ...good] = nodes as [ChainNode, ...ChainNode[]];
  const at = forwarderToChains(nodes, tips);
  await pass(30);
  advance(nodes, 1);
  a.branch = { from: 800, name: 'other' };
  advance([a], 50);
  return { ...at, a, good, nodes };
}

/** What clients are told of the newest block, in three ways. */
async function newest(forwarder: Forwarder) {
  const block = told(await ask(forwarder, 'latest'));
  const answer = await call(forwarder, {
    method: 'eth_blockNumber',
    params: '[]',
    block: 'tip',
    crossCheck: 'head',
  });
  const number = answer.kind === 'result' ? Number(JSON.parse(answer.body.bytes.toString())) : null;
  return {
    block: block === null ? null : Number(block.number),
    hash: block?.hash,
    number,
    head: forwarder.head(),
  };
}

it.each(['grow', 'stand still'])(
  'tells the blocks of two nodes that %s, of which the third has others',
  async (what) => {
    const { a, forwarder, good, nodes } = await forkedPool();
    await pass();
    for (let second = 0; second < 60; second++) {
      const head = (good[0] as ChainNode).head;
      expect(await newest(forwarder)).toEqual({ block: head, hash: hashOf(head), number: head, head });
      expect(told(await ask(forwarder, 800))?.hash).toBe(hashOf(800));
      expect(await forwarder.taggedBlock('finalized')).toBe(head - FINAL_DEPTH);
      // Of a block that only the third one has nothing is told.
      expect(told(await ask(forwarder, a.head))).toBeNull();
      await pass(10);
      advance(what === 'grow' ? nodes : [a], 1);
      await pass();
    }
    await close(forwarder);
  },
);

it('takes back what it told of a branch while nobody could know better', async () => {
  const { a, findings, forwarder, good } = await forkedPool();
  const [b, c] = good as [ChainNode, ChainNode];
  c.alive = false;
  await pass(400);
  // It is one against one.
  advance([a], 10);
  await pass();
  expect(await newest(forwarder)).toMatchObject({ block: a.head, number: a.head });
  c.alive = true;
  advance([c], 1);
  await pass(20);
  const head = Math.max(b.head, c.head);
  expect(await newest(forwarder)).toEqual({ block: head, hash: hashOf(head), number: head, head });
  expect(await forwarder.taggedBlock('finalized')).toBe(head - FINAL_DEPTH);
  // It told blocks of the branch to be final, which may have been kept.
  expect(findings.map(({ kind, upstream }) => [kind, upstream])).toEqual([['minority', 'a']]);

  // It is not believed because the others are gone, and is when it has their blocks.
  b.alive = false;
  c.alive = false;
  await pass(400);
  expect(told(await ask(forwarder, 'latest'))).toBeNull();
  b.alive = true;
  a.branch = null;
  await pass(20);
  expect(await newest(forwarder)).toMatchObject({ block: a.head, hash: hashOf(a.head), number: a.head });
  await close(forwarder);
});

/** A store of the newest blocks in memory. */
function memoryTips(): SharedTips {
  const numbers = new Map<TipTag, number>();
  return {
    async raise(_, tag, number) {
      numbers.set(tag, Math.max(number, numbers.get(tag) ?? -1));
      return numbers.get(tag) as number;
    },
    async lower(_, tag, number) {
      if (number === null) numbers.delete(tag);
      else numbers.set(tag, Math.min(number, numbers.get(tag) ?? number));
    },
    read: async () => Object.fromEntries(numbers),
  };
}

it('takes it back at all gateways', async () => {
  const tips = memoryTips();
  const { a, forwarder, nodes } = await forkedPool(tips);
  const { forwarder: other } = forwarderToChains(nodes, tips);
  await pass();
  await tips.raise('', 'latest', a.head, 0);
  await tips.raise('', 'finalized', a.head - FINAL_DEPTH, 0);
  // Both read it before they find the branch once more.
  expect(await Promise.all([forwarder.newest(), other.newest()])).toEqual([a.head, a.head]);
  a.branch = null;
  await pass(2);
  a.branch = { from: 799, name: 'third' };
  await pass(2);
  for (const one of [forwarder, other]) {
    expect(await newest(one)).toEqual({ block: 800, hash: hashOf(800), number: 800, head: 800 });
    expect(await one.taggedBlock('finalized')).toBe(800 - FINAL_DEPTH);
  }
  await close(forwarder, other);
});

it('reports one that stays on its branch, and not one that soon has the block of the others', async () => {
  const nodes = ['a', 'b', 'c'].map((name) => chainNode({ name, head: 800, final: 768 }));
  const { findings, forwarder } = forwarderToChains(nodes);
  await pass(30);
  const [a] = nodes as [ChainNode];
  const healthy = (): boolean[] => forwarder.status().map((node) => node.healthy);
  // A network that nobody uses is polled every 45 s.
  for (const left of [20, 900]) {
    a.branch = { from: a.head, name: `branch ${left}` };
    await pass(2);
    expect(healthy()).toEqual([false, true, true]);
    expect(findings).toEqual([]);
    await pass(left);
    if (left === 900) break;
    a.branch = null;
    await pass(2);
    expect(healthy()).toEqual([true, true, true]);
  }
  const reason = `its block 800 is ${hashOf(800, a.branch)}, that of b and more nodes is ${hashOf(800)}`;
  expect(findings).toEqual([{ kind: 'minority', upstream: 'a', reason }]);
  await close(forwarder);
});

it('asks about no head that follows from the parents that were told', async () => {
  const nodes = ['a', 'b', 'c'].map((name) => chainNode({ name, head: 100, final: 90 }));
  const { forwarder } = forwarderToChains(nodes);
  await pass(10);
  const before = nodes.map(({ headers }) => headers);
  for (let round = 0; round < 30; round++) {
    for (const node of nodes) {
      node.head += 1;
      await pass();
    }
  }
  expect(nodes.map(({ headers }) => headers)).toEqual(before);
  await close(forwarder);
});

/** One step of a script: a node advances, forks, comes back, or none does. */
function step(
  nodes: readonly ChainNode[],
  off: ChainNode,
  below: (most: number) => number,
  name: string,
): string {
  const act = below(6);
  if (act === 0 && off.branch === null) {
    off.branch = { from: Math.max(2, off.head - below(12)), name };
    off.head += below(2) * below(60);
    return 'fork';
  }
  if (act === 1 && off.branch !== null) {
    const most = Math.max(...nodes.filter((node) => node !== off).map((node) => node.head));
    // It leaves a branch for a longer one, unless another node has another block there.
    off.head = Math.max(most + below(3), off.branch.from > most ? off.head : 0);
    off.branch = null;
    return 'come back';
  }
  if (act === 2) return 'stall';
  const some = act === 3 ? nodes.filter((node) => node !== off) : nodes;
  for (const node of some) node.head += below(4);
  return 'advance';
}

it('tells after one poll only blocks that most nodes have, in 60 random scripts of three', async () => {
  const wrong: string[] = [];
  const counts = { decided: 0, open: 0 };
  for (let seed = 1; seed <= 60; seed++) {
    const below = random(seed);
    const nodes = ['a', 'b', 'c'].map((name) => chainNode({ name, head: 100 + below(3), final: 10 }));
    const off = nodes[below(3)] as ChainNode;
    const good = nodes.filter((node) => node !== off);
    const { context, forwarder } = forwarderToChains(nodes);
    await pass(3);
    for (let round = 0; round < 20; round++) {
      const what = step(nodes, off, below, `branch ${round}`);
      await pass(1);
      const at = forwarder.head();
      const { block, hash, head, number } = await newest(forwarder);
      const where = `seed ${seed}, round ${round}: ${what}: ${nodes.map((node) => node.head)}, branch from ${off.branch?.from}`;
      // The lower of the others may be on both branches: then it is one against one.
      const decided = off.branch === null || Math.min(...nodes.map((node) => node.head)) >= off.branch.from;
      const believed = decided && off.branch !== null ? good : nodes;
      const expected = Math.max(...believed.map((node) => node.head));
      counts[decided ? 'decided' : 'open'] += 1;
      const heights = decided ? [expected] : nodes.map((node) => node.head);
      const hashes = believed.map((node) => hashOf(block ?? 0, node.branch));
      const isRight = heights.includes(block ?? -1) && hashes.includes(hash as string);
      if (!isRight || [at, head, number].some((each) => each !== block)) {
        wrong.push(`${where}: expected ${heights}, got ${JSON.stringify({ at, block, hash, head, number })}`);
      }
    }
    await close(forwarder);
    expect(context.lines.filter((line) => line.includes('TypeError'))).toEqual([]);
  }
  expect(wrong.slice(0, 10)).toEqual([]);
  expect(counts.decided).toBeGreaterThan(800);
}, 120_000);
