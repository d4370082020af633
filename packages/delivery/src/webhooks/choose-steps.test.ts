import type { HookPlace } from '@packhouse/database';
import type { FeedStep } from '@packhouse/manifest';
import { describe, expect, it } from 'vitest';
import type { BareStep } from '../testing/hook-stage.js';
import { chooseSteps } from './choose-steps.js';

const hash = '0x';
const block = (number: number): BareStep => ({ step: 'new', block: number, hash, parent: hash, files: {} });
const undo = (to: number): BareStep => ({ step: 'undo', block: to + 1, hash, to: { block: to, hash } });
const final = (number: number): BareStep => ({ step: 'final', block: number, hash });
const waiting = (number: number, reason: string): BareStep => ({
  step: 'waiting',
  block: number,
  reason,
  detail: '',
  kinds: ['logs'],
});
const bundle = (from: number, to: number): BareStep => ({
  step: 'bundle',
  kind: 'logs',
  range: `${from}-${to}`,
  from,
  download_link: '',
  sha256: '',
  bytes: 1,
});

/** What a hook is told of pages, one after the other; with `matching`, it has a filter that these blocks match. */
async function told(pages: BareStep[][], matching?: number[]): Promise<string[][]> {
  let place: HookPlace = { cursor: null, notFinal: null, waiting: null };
  const isMatch = async (number: number): Promise<boolean> => matching?.includes(number) ?? true;
  const matcher = { block: ({ block: number }: { block: number }) => isMatch(number), bundle: isMatch };
  const all: string[][] = [];
  for (const page of pages) {
    const steps = page.map((step, nth) => ({ ...step, cursor: `c${nth}` }) as FeedStep);
    const hook = { addresses: matching === undefined ? [] : [hash], topics: [], ...place };
    const chosen = await chooseSteps(steps, hook, matcher);
    place = chosen.place;
    all.push(chosen.steps.map((step) => `${step.step} ${'block' in step ? step.block : step.range}`));
  }
  return all;
}

describe('a hook without a filter', () => {
  it('is told everything but that it waits for a block that is about to come', async () => {
    const page = [bundle(1, 9), block(10), undo(9), block(10), final(10), waiting(11, 'not-produced')];
    expect(await told([page])).toEqual([['bundle 1-9', 'new 10', 'undo 10', 'new 10', 'final 10']]);
  });

  it('is told once that its feed stands still, and again when it does so at another block', async () => {
    const halt = waiting(11, 'quarantined');
    expect(await told([[halt], [halt], [block(11), waiting(12, 'quarantined')], [halt]])).toEqual([
      ['waiting 11'],
      [],
      ['new 11', 'waiting 12'],
      ['waiting 11'],
    ]);
  });

  it('is told a hundred steps at a time', async () => {
    const steps = Array.from({ length: 150 }, (_, nth) => ({ ...block(nth), cursor: `c${nth}` }) as FeedStep);
    const matcher = { block: async () => true, bundle: async () => true };
    const hook = { addresses: [], topics: [], cursor: null, notFinal: null, waiting: null };
    const chosen = await chooseSteps(steps, hook, matcher);
    expect(chosen).toMatchObject({ all: false, place: { cursor: 'c99', notFinal: { first: 0, last: 99 } } });
    expect(chosen.steps).toHaveLength(100);
  });
});

describe('a hook with a filter', () => {
  it('is told the blocks and bundles that match, and moves over the others', async () => {
    expect(await told([[bundle(1, 9), bundle(10, 19), block(20), block(21), block(22)]], [10, 21])).toEqual([
      ['bundle 10-19', 'new 21'],
    ]);
  });

  it('is told that a block is undone only if it was told that block', async () => {
    expect(await told([[block(20), block(21), undo(20), undo(19)], [block(20)], [undo(19)]], [21])).toEqual([
      ['new 21', 'undo 21'],
      [],
      [],
    ]);
    expect(
      await told(
        [
          [block(20), block(21)],
          [undo(20), undo(19)],
        ],
        [20],
      ),
    ).toEqual([['new 20'], ['undo 20']]);
  });

  it('is told what is final if it waits for that, once', async () => {
    const pages = [
      [block(20), block(21), block(22)],
      [final(19)],
      [final(20)],
      [final(21)],
      [final(22)],
      [final(23)],
    ];
    expect(await told(pages, [20, 22])).toEqual([
      ['new 20', 'new 22'],
      [],
      ['final 20'],
      ['final 21'],
      ['final 22'],
      [],
    ]);
  });
});
