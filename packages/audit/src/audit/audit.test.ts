import { KINDS } from '@packhouse/chain';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { auditWorld } from '../testing/audited.js';

const FIRST = 1_000;
const LAST = 1_059;
let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 60) }], { maxBlocks: 16 });
  await world.want(FIRST, LAST);
  await world.noteHead();
  await world.settle();
});
afterAll(() => world.close());

test('what was published audits clean in all kinds, every object read once', async () => {
  const { summary, findings } = await auditWorld(world);
  expect(findings).toEqual([]);
  expect(summary.unchecked).toEqual([]);
  expect(summary.blocks).toBe(60 * KINDS.length);
  let bytes = 0;
  let bundles = 0;
  for (const kind of KINDS) {
    const totals = await world.database.network('main').bundles.totals(kind);
    bytes += totals.bytes;
    bundles += totals.bundles;
  }
  expect(summary).toMatchObject({ bundles, bytesRead: bytes, findings: 0, harmless: 0, causes: {} });
});
