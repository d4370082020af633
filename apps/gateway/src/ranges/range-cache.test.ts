import type { BlockRange } from '@packhouse/chain';
import { describe, expect, it } from 'vitest';
import { createRangeCache, PAGE_BLOCKS } from './range-cache.js';

function recordingLoad(all: BlockRange[]) {
  const asked: string[] = [];
  return {
    asked,
    load: async (network: string, kind: string, range: BlockRange) => {
      asked.push(`${network}/${kind}/${range.start}-${range.end}`);
      return all.filter((each) => each.start <= range.end && range.start <= each.end);
    },
  };
}

describe('the cache of the range index', () => {
  it('loads a page once, however many ask for it at once, and then answers from memory', async () => {
    const { asked, load } = recordingLoad([{ start: 5, end: 9 }]);
    const cache = createRangeCache({ load });
    const found = await Promise.all([5, 7, 9, 10].map((block) => cache.find('n', 'logs', block)));
    expect(found).toEqual([{ start: 5, end: 9 }, { start: 5, end: 9 }, { start: 5, end: 9 }, undefined]);
    await cache.find('n', 'logs', 6);
    expect(asked).toEqual([`n/logs/0-${PAGE_BLOCKS - 1}`]);
    await cache.find('n', 'traces', 6);
    await cache.find('m', 'logs', 6);
    expect(asked).toHaveLength(3);
  });

  it('finds a range that begins in an earlier page', async () => {
    const long = { start: 100, end: 3 * PAGE_BLOCKS };
    const cache = createRangeCache({ load: recordingLoad([long]).load });
    expect(await cache.find('n', 'blocks', 2 * PAGE_BLOCKS)).toEqual(long);
  });

  it('knows a range that was added after its page was loaded', async () => {
    const { asked, load } = recordingLoad([{ start: 0, end: 4 }]);
    const cache = createRangeCache({ load });
    expect(await cache.find('n', 'blocks', 7)).toBeUndefined();
    cache.add('n', 'blocks', 7, { start: 5, end: 9 });
    expect(await cache.find('n', 'blocks', 9)).toEqual({ start: 5, end: 9 });
    expect(asked).toHaveLength(1);
  });

  it('stays within its bytes by forgetting pages', async () => {
    const { asked, load } = recordingLoad([]);
    const cache = createRangeCache({ load, maxBytes: 1_000 });
    for (let page = 0; page < 50; page++) await cache.find('n', 'blocks', page * PAGE_BLOCKS);
    expect(cache.bytes).toBeLessThanOrEqual(1_000);
    await cache.find('n', 'blocks', 0);
    expect(asked).toHaveLength(51);
  });

  it('asks again after a failure', async () => {
    let fail = true;
    const cache = createRangeCache({
      load: async () => {
        if (fail) throw new Error('gone');
        return [{ start: 0, end: 1 }];
      },
    });
    await expect(cache.find('n', 'blocks', 1)).rejects.toThrow('gone');
    fail = false;
    expect(await cache.find('n', 'blocks', 1)).toEqual({ start: 0, end: 1 });
  });
});
