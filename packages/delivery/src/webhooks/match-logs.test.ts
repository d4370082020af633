import { KINDS } from '@packhouse/chain';
import { ingest } from '@packhouse/pipeline';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createLogMatcher } from './match-logs.js';

const FIRST = 1_000;
const chain = chainFrom(FIRST, 16);
const range = { firstBlock: FIRST, lastBlock: FIRST + 15 };
const NOBODY = `0x${'ee'.repeat(20)}`;
const NOTHING = `0x${'ee'.repeat(32)}`;

let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chain }], { maxBlocks: 8 });
  await world.want(range.firstBlock, range.lastBlock);
  await world.noteHead();
  await ingest(world.parts, { kinds: KINDS, ...range }, new AbortController().signal);
});
afterAll(() => world.close());

/** Each block's logs, as a node has them. */
const logsOf = (at: number) =>
  (chain[at]?.receipts ?? []).flatMap(({ logs }) => logs as { address: string; topics: string[] }[]);
const open = () => createLogMatcher(world.database.network('main'), world.objectStore);

it('a staged block matches if one of its logs has both the account and the first topic', async () => {
  const matcher = open();
  const block = { block: FIRST + 3, hash: chain[3]?.block.hash as string };
  const [log] = logsOf(3);
  const address = log?.address.toLowerCase() as string;
  const topic = log?.topics[0] as string;
  const matches = (addresses: string[], topics: string[]) => matcher.block(block, { addresses, topics });
  expect(await matches([address], [])).toBe(true);
  expect(await matches([], [topic])).toBe(true);
  expect(await matches([NOBODY, address], [NOTHING, topic])).toBe(true);
  expect(await matches([NOBODY], [])).toBe(false);
  expect(await matches([address], [NOTHING])).toBe(false);
  expect(await matches([NOBODY], [topic])).toBe(false);
  // A block that is replaced: nothing is known of its logs.
  expect(await matcher.block({ ...block, hash: NOTHING }, { addresses: [NOBODY], topics: [] })).toBe(true);
});

it('a bundle matches by its filter, and what is not there counts as a match', async () => {
  expect(await open().block({ block: 7, hash: NOTHING }, { addresses: [NOBODY], topics: [] })).toBe(true);
  expect(await open().bundle(FIRST, { addresses: [NOBODY], topics: [] })).toBe(true);
  await world.packAll();
  const matcher = open();
  const [log] = logsOf(0);
  const address = log?.address.toLowerCase() as string;
  const matches = (addresses: string[], topics: string[]) => matcher.bundle(FIRST, { addresses, topics });
  expect(await matches([address], [log?.topics[0] as string])).toBe(true);
  expect(await matches([NOBODY], [])).toBe(false);
  expect(await matches([], [NOTHING])).toBe(false);
});
