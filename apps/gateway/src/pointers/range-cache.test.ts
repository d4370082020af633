import type { BlockRange } from '@packhouse/chain';
import { systemClock } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { createRangeCache } from './range-cache.js';

const PAGE_BLOCKS = 16_384;

function setup(all: BlockRange[], maxBytes?: number) {
  const asked: string[] = [];
  let fail = false;
  const cache = createRangeCache({
    clock: systemClock,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    load: async (network, kind, range) => {
      asked.push(`${network}/${kind}/${range.start}-${range.end}`);
      if (fail) throw new Error('gone');
      return all.filter((each) => each.start <= range.end && range.start <= each.end);
    },
  });
  return {
    cache,
    asked,
    failing: (now: boolean) => {
      fail = now;
    },
  };
}

describe('the cache of the range index', () => {
  it('lets nobody wait for a page, loads it once, and then answers from memory', async () => {
    const { cache, asked } = setup([{ start: 5, end: 9 }]);
    for (const block of [5, 7, 9, 10]) expect(cache.find('n', 'logs', block)).toBeUndefined();
    await cache.settled();
    expect([4, 5, 7, 9, 10].map((block) => cache.find('n', 'logs', block))).toEqual([
      undefined,
      { start: 5, end: 9 },
      { start: 5, end: 9 },
      { start: 5, end: 9 },
      undefined,
    ]);
    await cache.settled();
    expect(asked).toEqual([`n/logs/0-${PAGE_BLOCKS - 1}`]);
    cache.find('n', 'traces', 6);
    cache.find('m', 'logs', 6);
    await cache.settled();
    expect(asked).toHaveLength(3);
  });

  it('finds a range that begins in an earlier page', async () => {
    const long = { start: 100, end: 3 * PAGE_BLOCKS };
    const { cache } = setup([long]);
    cache.find('n', 'blocks', 2 * PAGE_BLOCKS);
    await cache.settled();
    expect(cache.find('n', 'blocks', 2 * PAGE_BLOCKS)).toEqual(long);
  });

  it('knows a range that was added after its page was loaded', async () => {
    const { cache, asked } = setup([{ start: 0, end: 4 }]);
    cache.find('n', 'blocks', 7);
    await cache.settled();
    cache.add('n', 'blocks', 7, { start: 5, end: 9 });
    expect(cache.find('n', 'blocks', 9)).toEqual({ start: 5, end: 9 });
    expect(cache.find('n', 'blocks', 4)).toEqual({ start: 0, end: 4 });
    expect(asked).toHaveLength(1);
  });

  it('stays within its bytes by forgetting the page that was not asked for longest', async () => {
    const { cache, asked } = setup([], 1_000);
    for (let page = 0; page < 5; page++) {
      cache.find('n', 'blocks', page * PAGE_BLOCKS);
      await cache.settled();
      cache.find('n', 'blocks', 0);
      expect(cache.bytes).toBeLessThanOrEqual(1_000);
    }
    expect(asked).toHaveLength(5);
    cache.find('n', 'blocks', PAGE_BLOCKS);
    await cache.settled();
    expect(asked).toHaveLength(6);
  });

  it('asks again after a failure', async () => {
    const { cache, failing } = setup([{ start: 0, end: 1 }]);
    failing(true);
    cache.find('n', 'blocks', 1);
    await cache.settled();
    failing(false);
    expect(cache.find('n', 'blocks', 1)).toBeUndefined();
    await cache.settled();
    expect(cache.find('n', 'blocks', 1)).toEqual({ start: 0, end: 1 });
  });

  it('loads nothing more once it is closed', async () => {
    const { cache, asked } = setup([]);
    for (let page = 0; page < 5; page++) cache.find('n', 'blocks', page * PAGE_BLOCKS);
    cache.close();
    cache.find('n', 'logs', 1);
    await cache.settled();
    expect(asked).toHaveLength(1);
  });
});
