import type { FaultRule } from '@packhouse/replay-node';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';

const HURT = 4;
const LENGTH = 8;

const wrong = (field: string, value: unknown): FaultRule => ({
  when: { method: 'eth_getBlockByNumber', block: HURT },
  do: 'tamper',
  path: [field],
  value,
});

let world: World;
afterEach(() => world.close());

async function begin(nodes: readonly FaultRule[][]): Promise<ReturnType<typeof chainFrom>> {
  const blocks = chainFrom(1, LENGTH);
  world = await makeWorld(
    inject('postgresUrl'),
    nodes.map((faults) => ({ blocks, faults })),
    { maxBlocks: LENGTH },
  );
  await world.want(1, LENGTH);
  await world.noteHead();
  await world.settle();
  return blocks;
}

const publishedField = async (number: number, field: string): Promise<unknown> =>
  JSON.parse((await world.published('blocks')).get(number) ?? '{}')[field];

describe('a field that no header commits to', () => {
  test('is put right where it follows from others, and counted', async () => {
    const blocks = await begin([[wrong('size', '0x1')]]);
    expect(await publishedField(HURT, 'size')).toBe(blocks[HURT - 1]?.block.size);
    expect(await world.context.metrics.render()).toContain(
      'packhouse_corrected_fields_total{network="main",field="size"} 1',
    );
  });

  test('is refused where the block before contradicts it, and taken from another node', async () => {
    const lie = wrong('totalDifficulty', '0x5');
    const blocks = await begin([[lie], []]);
    expect(await publishedField(HURT, 'totalDifficulty')).toBe(blocks[HURT - 1]?.block.totalDifficulty);
    expect(await world.context.metrics.render()).toContain(
      'packhouse_failed_proofs_total{network="main",proof="parentLink"} 1',
    );
  });

  test('accuses no node where two blocks contradict each other: either may be the false one', async () => {
    await begin([[wrong('totalDifficulty', '0x5')], []]);
    expect(await world.context.metrics.render()).not.toContain(
      'packhouse_upstream_invalid_responses_total{network="main",upstream="node-1"}',
    );
  });
});
