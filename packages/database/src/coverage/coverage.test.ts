import type { BlockRange } from '@packhouse/chain';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { makeBundle, makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const clear = async () => {
  await open.sql(
    `TRUNCATE packhouse.staged_block, packhouse.fragment, packhouse.bundle, packhouse.quarantine, packhouse.head`,
  );
};
beforeEach(clear);

/** Inclusive ranges of the members of a set. */
function toRanges(blocks: ReadonlySet<number>): BlockRange[] {
  const ranges: BlockRange[] = [];
  for (const number of [...blocks].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.lastBlock === number - 1) last.lastBlock = number;
    else ranges.push({ firstBlock: number, lastBlock: number });
  }
  return ranges;
}

it('knows nothing of a network that is not there, nor of a reversed range', async () => {
  const nothing = { staged: [], published: [], quarantined: [] };
  expect(await open.database.network('nowhere').coverage('logs')).toEqual(nothing);
  expect(await open.main.coverage('logs', { firstBlock: 2, lastBlock: 1 })).toEqual(nothing);
});

it('is what a naive model of sets says, whatever happens in whatever order (invariant 4)', async () => {
  const range = fc
    .tuple(fc.integer({ min: 1_000, max: 1_050 }), fc.integer({ min: 0, max: 12 }))
    .map(([firstBlock, length]) => ({ firstBlock, lastBlock: firstBlock + length }));
  const step = fc.oneof(
    fc.record({ act: fc.constant('stage' as const), range, size: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ act: fc.constant('publish' as const), range }),
    fc.record({ act: fc.constant('quarantine' as const), range }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), range, async (steps, within) => {
      await clear();
      const model = {
        staged: new Set<number>(),
        published: new Set<number>(),
        quarantined: new Set<number>(),
      };
      const numbers = ({ firstBlock, lastBlock }: BlockRange) =>
        Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => firstBlock + i);
      for (const { act, range: at, ...rest } of steps) {
        const blocks = numbers(at);
        if (act === 'quarantine') {
          const { firstBlock } = at;
          await open.main.quarantine.put({
            firstBlock,
            kinds: ['logs'],
            cause: 'PROOF_FAILED',
            message: '',
            upstream: null,
            payloadDigest: null,
          });
          model.quarantined.add(firstBlock);
        } else if (act === 'publish') {
          const free = blocks.every((number) => !model.published.has(number));
          const published = open.main.bundles.publish(makeBundle('logs', at.firstBlock, at.lastBlock));
          if (free) await published;
          else await expect(published).rejects.toMatchObject({ code: 'BUNDLE_OVERLAP' });
          if (free) for (const number of blocks) model.published.add(number);
        } else {
          // A run may not cross a segment's border; the ranges cross one on purpose.
          for (const [start, end] of [
            [at.firstBlock, Math.min(at.lastBlock, 1_023)],
            [Math.max(at.firstBlock, 1_024), at.lastBlock],
          ] as const) {
            if (start > end) continue;
            const run = makeRun(start, end, {
              kinds: ['logs'],
              blocksAFragment: 'size' in rest ? rest.size : 1,
            });
            await open.main.staging.stage(run);
            for (const { firstBlock, lastBlock } of run.kinds[0]!.fragments) {
              const members = numbers({ firstBlock: firstBlock, lastBlock: lastBlock });
              if (members.some((number) => model.staged.has(number) || model.published.has(number))) continue;
              for (const number of members) model.staged.add(number);
            }
          }
        }
      }
      const inside = (set: Set<number>) =>
        toRanges(new Set([...set].filter((n) => n >= within.firstBlock && n <= within.lastBlock)));
      for (const part of ['staged', 'published', 'quarantined'] as const) {
        expect((await open.main.coverage('logs'))[part]).toEqual(toRanges(model[part]));
        expect((await open.main.coverage('logs', within))[part]).toEqual(inside(model[part]));
      }
      for (const number of numbers(within)) {
        const { state } = await open.main.locate('logs', number);
        expect(state).toBe(
          model.published.has(number) ? 'published' : model.staged.has(number) ? 'staged' : 'absent',
        );
      }
    }),
    { numRuns: 25 },
  );
});

it('says where a block is, published first', async () => {
  await open.main.staging.stage(makeRun(0, 9, { blocksAFragment: 5 }));
  expect(await open.main.locate('logs', 7)).toMatchObject({
    state: 'staged',
    fragment: { firstBlock: 5, lastBlock: 9 },
  });
  await open.main.bundles.publish(makeBundle('logs', 5, 9));
  expect(await open.main.locate('logs', 7)).toMatchObject({
    state: 'published',
    bundle: { firstBlock: 5 },
  });
  expect(await open.main.locate('logs', 10)).toEqual({ state: 'absent' });
  expect(await open.database.network('nowhere').locate('logs', 7)).toEqual({ state: 'absent' });
});
