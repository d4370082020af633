import { auditWorld, rowAt } from '@packhouse/audit/testing/audited.js';
import { KINDS } from '@packhouse/chain';
import type { FaultRule } from '@packhouse/replay-node';
import { afterEach, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';

const FIRST = 1_024;
const LENGTH = 6;
const chain = chainFrom(FIRST, LENGTH);
const omitted: FaultRule = {
  when: { method: 'eth_getBlockByNumber' },
  do: 'tamper',
  path: ['withdrawals'],
  value: undefined,
};

let world: World;
afterEach(() => world.close());

async function begin(nodes: readonly FaultRule[][]): Promise<void> {
  world = await makeWorld(
    inject('postgresUrl'),
    nodes.map((faults) => ({ blocks: chain, faults })),
  );
  await world.want(FIRST, FIRST + LENGTH - 1);
  await world.noteHead();
  await world.settle();
}

test('withdrawals that one upstream leaves out are taken from another, and nobody is called a liar', async () => {
  await begin([[omitted], []]);
  const blocks = await world.published('blocks');
  for (const { number } of chain) {
    expect(JSON.parse(blocks.get(number) as string).withdrawals).toHaveLength(16);
  }
  expect((await rowAt(world, 'blocks', FIRST)).notProved).toBeUndefined();
  expect((await auditWorld(world)).summary.unchecked).toEqual([]);
  expect(world.parts.source.status().map(({ healthy }) => healthy)).toEqual([true, true]);
});

test('withdrawals that no upstream gives are a named gap of the published blocks, in the index and in the audit', async () => {
  await begin([[omitted], [omitted]]);
  for (const kind of KINDS) expect((await world.published(kind)).size, kind).toBe(LENGTH);
  expect((await rowAt(world, 'blocks', FIRST)).notProved).toEqual([
    {
      proof: 'withdrawalsRoot',
      because: 'no upstream gives the withdrawals that the header says the block has',
    },
  ]);
  expect((await rowAt(world, 'logs', FIRST)).notProved).toBeUndefined();
  const { findings, summary } = await auditWorld(world);
  expect(findings).toEqual([]);
  expect(summary.unchecked).toEqual([
    {
      network: 'main',
      kind: 'blocks',
      blocks: LENGTH,
      reason: 'the withdrawals are missing that its header says it has',
    },
  ]);
  // Each upstream is asked for it once a window, not once a block.
  const [first, second] = world.nodes.map((node) => node.stats().callsByMethod.eth_getBlockReceipts ?? 0);
  expect((first ?? 0) + (second ?? 0)).toBe(LENGTH + 1);
});
