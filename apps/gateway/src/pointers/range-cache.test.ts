import type { BlockRange } from '@packhouse/chain';
import { systemClock } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { createRangeCache } from './range-cache.js';

const PAGE_BLOCKS = 16_384;

function setup(all: BlockRange[], maxBytes?: number) {
  const asked: string[] = [];
  let fail = false;
  let incarnation = 0;
  const cache = createRangeCache({
    clock: systemClock,
    incarnation: () => incarnation,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    load: async (network, kind, range) => {
      asked.push(`${network}/${kind}/${range.firstBlock}-${range.lastBlock}`);
      if (fail) throw new Error('gone');
      return all.filter((each) => each.firstBlock <= range.lastBlock && range.firstBlock <= each.lastBlock);
    },
  });
  return {
    cache,
    asked,
    failing: (now: boolean) => {
      fail = now;
    },
    setBack: () => {
      incarnation += 1;
    },
  };
}

describe('the cache of the range index', () => {
  it('asks again for what another database may lack, also where the answer was under way', async () => {
    const all = [{ firstBlock: 5, lastBlock: 9 }];
    const { cache, asked, setBack } = setup(all);
    cache.find('n', 'logs', 5);
    await cache.settled();
    expect(cache.find('n', 'logs', 5)).toEqual(all[0]);
    all.pop();
    setBack();
    expect(cache.find('n', 'logs', 5)).toBeUndefined();
    await cache.settled();
    expect(cache.find('n', 'logs', 5)).toBeUndefined();
    expect(asked).toHaveLength(2);
    expect(cache.bytes).toBeLessThan(1_000);

    cache.find('n', 'blocks', 5);
    setBack();
    await cache.settled();
    cache.find('n', 'blocks', 5);
    await cache.settled();
    expect(asked.filter((page) => page.startsWith('n/blocks'))).toHaveLength(2);
  });

  it('lets nobody wait for a page, loads it once, and then answers from memory', async () => {
    const { cache, asked } = setup([{ firstBlock: 5, lastBlock: 9 }]);
    for (const block of [5, 7, 9, 10]) expect(cache.find('n', 'logs', block)).toBeUndefined();
    await cache.settled();
    expect([4, 5, 7, 9, 10].map((block) => cache.find('n', 'logs', block))).toEqual([
      undefined,
      { firstBlock: 5, lastBlock: 9 },
      { firstBlock: 5, lastBlock: 9 },
      { firstBlock: 5, lastBlock: 9 },
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
    const long = { firstBlock: 100, lastBlock: 3 * PAGE_BLOCKS };
    const { cache } = setup([long]);
    cache.find('n', 'blocks', 2 * PAGE_BLOCKS);
    await cache.settled();
    expect(cache.find('n', 'blocks', 2 * PAGE_BLOCKS)).toEqual(long);
  });

  it('knows a range that was added after its page was loaded', async () => {
    const { cache, asked } = setup([{ firstBlock: 0, lastBlock: 4 }]);
    cache.find('n', 'blocks', 7);
    await cache.settled();
    cache.add('n', 'blocks', 7, { firstBlock: 5, lastBlock: 9 });
    expect(cache.find('n', 'blocks', 9)).toEqual({ firstBlock: 5, lastBlock: 9 });
    expect(cache.find('n', 'blocks', 4)).toEqual({ firstBlock: 0, lastBlock: 4 });
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
    const { cache, failing } = setup([{ firstBlock: 0, lastBlock: 1 }]);
    failing(true);
    cache.find('n', 'blocks', 1);
    await cache.settled();
    failing(false);
    expect(cache.find('n', 'blocks', 1)).toBeUndefined();
    await cache.settled();
    expect(cache.find('n', 'blocks', 1)).toEqual({ firstBlock: 0, lastBlock: 1 });
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
