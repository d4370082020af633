import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { parseNetworks } from '@packhouse/networks';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { createRangeCache, PAGE_BLOCKS } from './range-cache.js';
import { warmRanges } from './warm-ranges.js';

const NETWORKS = parseNetworks(
  `networks:
  - {id: a, family: evm, chainId: 1, upstreams: [{url: 'http://127.0.0.1:1'}], bundles: {kinds: [logs]}}
  - {id: b, family: evm, chainId: 2, upstreams: [{url: 'http://127.0.0.1:1'}], bundles: {kinds: [logs, traces]}}
  - {id: c, family: evm, chainId: 3, upstreams: [{url: 'http://127.0.0.1:1'}], bundles: {enabled: false}}
`,
  { source: 'test', env: {} },
);

/** Network a has three pages with a gap between, b one of each kind; loading a page takes a second of the clock. */
const PUBLISHED: Record<string, BlockRange[]> = {
  'a/logs': [
    { firstBlock: 0, lastBlock: 99 },
    { firstBlock: 2 * PAGE_BLOCKS, lastBlock: 4 * PAGE_BLOCKS - 1 },
  ],
  'b/logs': [{ firstBlock: 0, lastBlock: 9 }],
  'b/traces': [{ firstBlock: 0, lastBlock: 9 }],
};

function stage(maxBytes?: number, broken = false) {
  const asked: string[] = [];
  const log: string[] = [];
  let now = 0;
  const context: Context = {
    logger: createLogger({ name: 'test', destination: { write: (line) => void log.push(line) } }),
    metrics: createMetrics(),
    clock: { ...systemClock, elapsed: () => now },
    signal: new AbortController().signal,
  };
  const ranges = createRangeCache({
    clock: systemClock,
    incarnation: () => 0,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    load: async (network, kind, { firstBlock }) => {
      asked.push(`${network}/${kind}/${firstBlock / PAGE_BLOCKS}`);
      now += 1_000;
      if (broken) throw new Error('gone');
      return [{ firstBlock, lastBlock: firstBlock + 9 }];
    },
  });
  const database = {
    network: (id: string) => ({
      coverage: async (kind: Kind) => ({ published: PUBLISHED[`${id}/${kind}`] ?? [] }),
    }),
  } as unknown as Database;
  const stop = new AbortController();
  const warm = (limitMs = 600_000) =>
    warmRanges({ context, database, networks: NETWORKS, ranges, limitMs, signal: stop.signal });
  return { warm, ranges, asked, log, stop };
}

it('loads the newest page of every network and kind, then the next, and nothing where nothing is published', async () => {
  const { warm, ranges, asked, log } = stage();
  expect(await warm()).toEqual({ pages: 5, loaded: 5, outcome: 'whole' });
  expect(asked).toEqual(['a/logs/3', 'b/logs/0', 'b/traces/0', 'a/logs/2', 'a/logs/0']);
  expect(log.join('')).toContain('"msg":"range index loaded"');
  expect(ranges.find('a', 'logs', 3 * PAGE_BLOCKS + 5)).toMatchObject({ lastBlock: 3 * PAGE_BLOCKS + 9 });
  await ranges.settled();
  expect(asked).toHaveLength(5);
});

it('ends when its time is over, and says so', async () => {
  const { warm, log } = stage();
  const { pages, loaded, outcome } = await warm(1_000);
  expect({ pages, outcome }).toEqual({ pages: 5, outcome: 'late' });
  expect(loaded).toBeLessThan(5);
  expect(log.join('')).toContain('range index partly loaded');
});

it('drops nothing newer for something older where the memory is full', async () => {
  const { warm, ranges, asked } = stage(1_000);
  expect(await warm()).toMatchObject({ outcome: 'full' });
  expect(ranges.bytes).toBeLessThanOrEqual(1_000);
  expect(ranges.find('a', 'logs', 3 * PAGE_BLOCKS + 5)).toBeDefined();
  // Asked for, a page takes the place of the oldest that nobody asked for.
  const before = asked.length;
  ranges.find('z', 'logs', 0);
  await ranges.settled();
  expect(ranges.find('a', 'logs', 3 * PAGE_BLOCKS + 5)).toBeDefined();
  expect(asked).toHaveLength(before + 1);
});

it('ends at a failure and at the end of the gateway, and throws nothing', async () => {
  expect(await stage(undefined, true).warm()).toMatchObject({ loaded: 0, outcome: 'failed' });
  const closing = stage();
  closing.stop.abort();
  expect(await closing.warm()).toMatchObject({ loaded: 0, outcome: 'closed' });
  expect(closing.asked).toEqual([]);
});
