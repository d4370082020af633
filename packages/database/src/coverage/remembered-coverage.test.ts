import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { makeBundle, makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const clear = () =>
  open.sql(`TRUNCATE packhouse.staged_block, packhouse.fragment, packhouse.bundle, packhouse.superseded_bundle,
    packhouse.quarantine, packhouse.head`);
beforeEach(clear);

/** Where the blocks of these tests are: around the border between two chunks. */
const BORDER = 16_384;
const EVERYTHING = { firstBlock: 0, lastBlock: 1_000_000 };

it('is what a first reader sees, whatever was done to it meanwhile and however seldom it is read', async () => {
  const place = fc
    .tuple(fc.integer({ min: BORDER - 30, max: BORDER + 20 }), fc.integer({ min: 0, max: 9 }))
    .map(([start, length]) => ({ start, end: start + length }));
  const act = fc.constantFrom('stage', 'publish', 'supersede', 'delete', 'abandon', 'quarantine', 'truncate');
  const step = fc.record({ act, place, look: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      await clear();
      const often = open.main;
      const seldom = open.another().network('main');
      for (const { act, place, look } of steps) {
        const { start, end } = place;
        await perform(act, start, end).catch((error: { code?: string }) => {
          expect(['BUNDLE_OVERLAP', 'STAGE_CONFLICT', 'BUNDLE_CHANGED']).toContain(error.code);
        });
        for (const reader of look ? [often, seldom] : [often]) {
          const remembered = await reader.coverage('logs');
          expect(remembered).toEqual(await often.coverage('logs', EVERYTHING));
          const [counts] = await often.holes.count({ kinds: ['logs'], range: EVERYTHING });
          const blocks = remembered.published.reduce(
            (sum, range) => sum + range.lastBlock - range.firstBlock + 1,
            0,
          );
          expect(counts?.published).toBe(blocks);
        }
        const [truth] = await open.sql<{ published: number[] }>(
          'SELECT coalesce(sum(last_block - first_block + 1), 0)::int4 AS published FROM packhouse.bundle',
        );
        const [counts] = await often.holes.count({ kinds: ['logs'], range: EVERYTHING });
        expect(counts?.published).toBe(truth?.published);
      }
    }),
    { numRuns: 12 },
  );
});

async function perform(act: string, start: number, end: number): Promise<void> {
  const { main } = open;
  if (act === 'publish') await main.bundles.publish(makeBundle('logs', start, end));
  else if (act === 'quarantine') {
    const why = { cause: 'PROOF_FAILED', message: '', upstream: null, payloadDigest: null };
    await main.quarantine.put({ ...why, firstBlock: start, kinds: ['logs'] });
  } else if (act === 'delete') {
    await open.sql('DELETE FROM packhouse.bundle WHERE first_block BETWEEN $1 AND $2', [start, end]);
  } else if (act === 'truncate') await open.sql('TRUNCATE packhouse.bundle');
  else if (act === 'abandon') await main.staging.abandon(start);
  else if (act === 'stage') {
    // A run may not cross a segment's border.
    const cut = Math.min(end, start < BORDER ? BORDER - 1 : end);
    await main.staging.stage(makeRun(start, cut, { kinds: ['logs'] }));
  } else {
    const [current] = await main.bundles.list('logs', start, 1);
    if (current === undefined) return;
    const { firstBlock: first, lastBlock: last, version, sha256 } = current;
    await main.bundles.supersede(
      {
        ...makeBundle('logs', first, last),
        objectKey: `main/logs/${first}-${last}.v${version + 1}.json.gz`,
        sha256: `${version}0`.repeat(32).slice(0, 64),
      },
      { replaces: sha256, reason: 'test' },
    );
  }
}

it('misses nothing of many who publish at once', async () => {
  const publishers = [open.database, open.another(), open.another()];
  let published = false;
  const publishing = Promise.all(
    Array.from({ length: 24 }, (_, at) => {
      const bundle = makeBundle('logs', BORDER - 60 + at * 5, BORDER - 60 + at * 5 + 2);
      return publishers[at % publishers.length]?.network('main').bundles.publish(bundle);
    }),
  ).finally(() => {
    published = true;
  });
  const reader = open.another().network('main');
  while (!published) await reader.coverage('logs');
  await publishing;
  const { published: remembered } = await reader.coverage('logs');
  expect(remembered).toHaveLength(24);
  expect(remembered).toEqual((await open.main.coverage('logs', EVERYTHING)).published);
});

it('is the same object while nothing is published, and reads the runs of a changed chunk alone', async () => {
  for (const start of [0, 20, 2 * BORDER])
    await open.main.bundles.publish(makeBundle('logs', start, start + 4));
  const reader = open.another().network('main');
  const { published } = await reader.coverage('logs');
  expect((await reader.coverage('logs')).published).toBe(published);
  // Were these runs read again, they would be missed.
  await open.sql('DELETE FROM packhouse.published_run WHERE first_block < $1', [BORDER]);
  await open.main.bundles.publish(makeBundle('logs', 2 * BORDER + 5, 2 * BORDER + 9));
  expect((await reader.coverage('logs')).published).toEqual([
    { firstBlock: 0, lastBlock: 4 },
    { firstBlock: 20, lastBlock: 24 },
    { firstBlock: 2 * BORDER, lastBlock: 2 * BORDER + 9 },
  ]);
});

it('counts whole chunks without their runs', async () => {
  await open.sql(`INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length,
      proofs, format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
    SELECT n.id, 3, i * 20, i * 20 + 11, 1, 1, 0, 1, '', '', '', '', '', '' FROM packhouse.network AS n,
      generate_series(0, 4999) AS i WHERE n.name = 'main'`);
  const range = { firstBlock: 5, lastBlock: 5 * BORDER + 99 };
  const count = () => open.main.holes.count({ kinds: ['logs'], range });
  const before = await count();
  expect(before[0]?.published).toBe(7 + 12 * Math.floor((5 * BORDER + 80) / 20));
  await open.sql('DELETE FROM packhouse.published_run WHERE first_block BETWEEN $1 AND $2', [
    BORDER,
    5 * BORDER - 20,
  ]);
  expect(await count()).toEqual(before);
});
