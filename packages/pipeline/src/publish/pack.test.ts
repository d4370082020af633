import { KINDS } from '@packhouse/chain';
import type { NewBundle } from '@packhouse/database';
import { afterEach, expect, inject, test } from 'vitest';
import { ingest } from '../ingest/ingest.js';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { pack } from './pack.js';
import { publish } from './publish.js';

/** The first of a segment. */
const FIRST = 1_024;
let world: World;
afterEach(() => world.close());

test('blocks that somebody else published with other borders are left alone, not tried for ever', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 8) }]);
  await world.want(FIRST, FIRST + 7);
  await world.noteHead();
  const { database, context } = world;
  await ingest(world.parts, { firstBlock: FIRST, lastBlock: FIRST + 7, kinds: KINDS }, context.signal);
  const [fragment] = await database
    .network('main')
    .staging.fragments('logs', { firstBlock: FIRST, lastBlock: FIRST });
  if (fragment === undefined) throw new Error('nothing is staged');
  const hash = `0x${'11'.repeat(32)}`;
  const foreign: NewBundle = {
    kind: 'logs',
    firstBlock: FIRST,
    lastBlock: FIRST + 3,
    objectKey: 'foreign',
    byteLength: 1,
    rawLength: 1,
    sha256: '00'.repeat(32),
    firstHash: hash,
    firstParentHash: hash,
    lastHash: hash,
    proofs: [],
    fragments: [{ ...fragment, lastBlock: FIRST + 3 }],
    formatVersion: 1,
  };
  await database.network('main').bundles.publish(foreign);
  let tries = 0;
  const packing: Parameters<typeof pack>[0] = {
    ...world,
    publish: (request, signal) => {
      tries++;
      if (tries > 3) throw new Error('tried again and again');
      return publish(world, request, signal);
    },
  };
  expect(await pack(packing, 'logs', context.signal)).toBe(0);
});
