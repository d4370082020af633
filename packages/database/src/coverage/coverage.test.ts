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
function rangesOf(blocks: ReadonlySet<number>): BlockRange[] {
  const ranges: BlockRange[] = [];
  for (const number of [...blocks].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.end === number - 1) last.end = number;
    else ranges.push({ start: number, end: number });
  }
  return ranges;
}

it('knows nothing of a network that is not there, nor of a reversed range', async () => {
  const nothing = { staged: [], published: [], quarantined: [] };
  expect(await open.database.network('nowhere').coverage('logs')).toEqual(nothing);
  expect(await open.main.coverage('logs', { start: 2, end: 1 })).toEqual(nothing);
});

it('is what a naive model of sets says, whatever happens in whatever order (invariant 4)', async () => {
  const range = fc
    .tuple(fc.integer({ min: 1_000, max: 1_050 }), fc.integer({ min: 0, max: 12 }))
    .map(([start, length]) => ({ start, end: start + length }));
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
      const numbers = ({ start, end }: BlockRange) =>
        Array.from({ length: end - start + 1 }, (_, i) => start + i);
      for (const { act, range: at, ...rest } of steps) {
        const blocks = numbers(at);
        if (act === 'quarantine') {
          const { start: number } = at;
          await open.main.quarantine.put({
            number,
            kinds: ['logs'],
            cause: 'PROOF_FAILED',
            message: '',
            upstream: null,
            payloadDigest: null,
          });
          model.quarantined.add(number);
        } else if (act === 'publish') {
          const free = blocks.every((number) => !model.published.has(number));
          const published = open.main.bundles.publish(makeBundle('logs', at.start, at.end));
          if (free) await published;
          else await expect(published).rejects.toMatchObject({ code: 'BUNDLE_OVERLAP' });
          if (free) for (const number of blocks) model.published.add(number);
        } else {
          // A run may not cross a segment's border; the ranges cross one on purpose.
          for (const [start, end] of [
            [at.start, Math.min(at.end, 1_023)],
            [Math.max(at.start, 1_024), at.end],
          ] as const) {
            if (start > end) continue;
            const run = makeRun(start, end, {
              kinds: ['logs'],
              blocksAFragment: 'size' in rest ? rest.size : 1,
            });
            await open.main.staging.stage(run);
            for (const { startBlock, endBlock } of run.kinds[0]!.fragments) {
              const members = numbers({ start: startBlock, end: endBlock });
              if (members.some((number) => model.staged.has(number) || model.published.has(number))) continue;
              for (const number of members) model.staged.add(number);
            }
          }
        }
      }
      const inside = (set: Set<number>) =>
        rangesOf(new Set([...set].filter((n) => n >= within.start && n <= within.end)));
      for (const part of ['staged', 'published', 'quarantined'] as const) {
        expect((await open.main.coverage('logs'))[part]).toEqual(rangesOf(model[part]));
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
    fragment: { startBlock: 5, endBlock: 9 },
  });
  await open.main.bundles.publish(makeBundle('logs', 5, 9));
  expect(await open.main.locate('logs', 7)).toMatchObject({
    state: 'published',
    bundle: { start: 5 },
  });
  expect(await open.main.locate('logs', 10)).toEqual({ state: 'absent' });
  expect(await open.database.network('nowhere').locate('logs', 7)).toEqual({ state: 'absent' });
});
