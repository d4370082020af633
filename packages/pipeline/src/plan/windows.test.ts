import { type BlockRange, type Kind, unionRanges } from '@packhouse/chain';
import type { NetworkDatabase, OpenBackfill } from '@packhouse/database';
import { type Network, parseNetworks } from '@packhouse/networks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairShares } from './fair-shares.js';
import { windowsToKeep } from './plan.js';
import { type IngestView, ingestWindows } from './windows.js';

const [network] = parseNetworks(
  JSON.stringify({
    networks: [{ id: 'main', family: 'evm', chainId: 1, upstreams: [{ url: 'http://127.0.0.1:1' }] }],
  }),
  { source: 'test', env: {} },
) as [Network];

/** A network of which every record has this many bytes, as far as can be known. */
function getDatabase(rawBytes: number | null): { asked: number; database: NetworkDatabase } {
  const it = {
    asked: 0,
    database: {
      staging: { fragments: async () => [] },
      bundles: {
        totals: async () => ({ bytes: rawBytes ?? 0, blocks: rawBytes === null ? 0 : 1 }),
        covering: async () => {
          it.asked++;
          return rawBytes === null ? null : { firstBlock: 0, lastBlock: 0, rawLength: rawBytes };
        },
      },
    } as unknown as NetworkDatabase,
  };
  return it;
}

const KINDS = ['blocks', 'logs'] as const satisfies readonly Kind[];
const order = (
  id: number,
  from: number,
  to: number | null,
  more: Partial<OpenBackfill> = {},
): OpenBackfill => ({
  id,
  from,
  to,
  kinds: [...KINDS],
  priority: 1,
  owner: 'default',
  weight: 1,
  windows: [],
  maxRequests: null,
  ...more,
});

function toView(open: readonly OpenBackfill[], more: Partial<IngestView> = {}): IngestView {
  const nothing = { staged: [], published: [], quarantined: [] };
  return {
    open,
    due: new Map(),
    pending: [],
    blocksLeft: new Map(),
    finalized: 1_000_000,
    unknownFrom: Number.POSITIVE_INFINITY,
    coverage: new Map(KINDS.map((kind) => [kind, nothing])),
    runs: { active: new Map(), paused: new Map(), kinds: [...KINDS] },
    ...more,
  };
}

const toNumbers = (ranges: readonly BlockRange[]): number[] =>
  ranges.flatMap(({ firstBlock, lastBlock }) =>
    Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => firstBlock + i),
  );
const FREE = { pressed: false, packable: true };

test('windows name each missing block, and only kinds of which one is missing that no other names', async () => {
  const ranges = fc
    .array(fc.tuple(fc.nat(120), fc.nat(15)), { maxLength: 5 })
    .map((pairs) =>
      unionRanges(pairs.map(([start, length]) => ({ firstBlock: start, lastBlock: start + length }))),
    );
  const coverage = fc.record({ staged: ranges, published: ranges, quarantined: ranges });
  const kinds = fc.subarray([...KINDS], { minLength: 1 });
  const ordered = fc.record({
    at: fc.nat(120),
    length: fc.nat(60),
    kinds,
    priority: fc.integer({ min: 1, max: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ blocks: coverage, logs: coverage }),
      fc.array(ordered, { maxLength: 5 }),
      fc.array(fc.record({ at: fc.nat(120), kinds }), { maxLength: 3 }),
      fc.record({ due: ranges, finalized: fc.nat(150), unknownFrom: fc.nat(200) }),
      async (covered, orders, enqueued, { due, finalized, unknownFrom }) => {
        const open = orders
          .map(({ at, length, ...rest }, id) => order(id, at, at + length, rest))
          .sort((a, b) => a.priority - b.priority || a.id - b.id);
        const pending = enqueued.map(({ at, kinds }) => ({ firstBlock: at, lastBlock: at + 7, kinds }));
        const view = toView(open, {
          finalized,
          unknownFrom,
          pending,
          due: new Map([['logs', due]]),
          coverage: new Map(KINDS.map((kind) => [kind, covered[kind]])),
        });
        const parts = { network, database: getDatabase(1_000_000).database, maxPending: 10_000 };
        const windows = await ingestWindows({ ...parts, shares: createFairShares() }, view, FREE);
        for (const kind of KINDS) {
          const { staged, published, quarantined } = covered[kind];
          const tried = new Set(kind === 'logs' ? toNumbers(due) : []);
          const settled = new Set([
            ...toNumbers([...staged, ...published]),
            ...toNumbers(quarantined).filter((number) => !tried.has(number)),
            ...toNumbers(pending.filter((window) => window.kinds.includes(kind))),
          ]);
          const wanted = open.filter((range) => range.kinds.includes(kind));
          const missing = new Set(
            toNumbers(wanted.map(({ from, to }) => ({ firstBlock: from, lastBlock: to ?? 0 }))).filter(
              (number) => !settled.has(number) && number <= finalized && number < unknownFrom,
            ),
          );
          const planned = new Set<number>();
          for (const { payload } of windows.filter((window) => window.payload.kinds.includes(kind))) {
            const more = toNumbers([payload]).filter((number) => missing.has(number) && !planned.has(number));
            expect(more.length).toBeGreaterThan(0);
            for (const number of more) planned.add(number);
          }
          expect(planned).toEqual(missing);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('the lowest hole beside staged blocks is first while staging is full', async () => {
  const staged = [
    { firstBlock: 40, lastBlock: 49 },
    { firstBlock: 80, lastBlock: 89 },
  ];
  const published = [{ firstBlock: 30, lastBlock: 39 }];
  const view = toView([order(1, 0, 10), order(2, 30, 200)], {
    coverage: new Map([
      ['blocks', { staged, published, quarantined: [] }],
      ['logs', { staged: [], published: [{ firstBlock: 0, lastBlock: 300 }], quarantined: [] }],
    ]),
  });
  const plan = (more: Partial<IngestView>, packable: boolean) =>
    ingestWindows(
      { network, database: getDatabase(1_000_000).database, maxPending: 100, shares: createFairShares() },
      { ...view, ...more },
      { pressed: true, packable },
    );
  const [first, ...others] = await plan({}, false);
  expect(first?.payload).toMatchObject({ firstBlock: 50, lastBlock: 55, kinds: ['blocks'] });
  expect(others).toEqual([]);
  expect(await plan({}, true)).toEqual([]);
  expect(await plan({ pending: [{ firstBlock: 0, lastBlock: 1, kinds: ['blocks'] }] }, false)).toEqual([]);
});

test('what a plan looks at is what it enqueues, however many ranges are ordered and published', async () => {
  let looks = 0;
  /** Every other ten blocks are published, of ten million: an array that counts who reads it. */
  const published = new Proxy(
    Array.from({ length: 500_000 }, (_, i) => ({ firstBlock: i * 20, lastBlock: i * 20 + 9 })),
    {
      get: (runs, key, self) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks++;
        return Reflect.get(runs, key, self) as unknown;
      },
    },
  );
  const open = Array.from({ length: 10_000 }, (_, i) => order(i, i * 1_000, i * 1_000 + 900));
  const view = toView(open, {
    finalized: 20_000_000,
    coverage: new Map(KINDS.map((kind) => [kind, { staged: [], published, quarantined: [] }])),
  });
  const it = getDatabase(400_000);
  const parts = { network, database: it.database, maxPending: 128, shares: createFairShares() };
  expect(await ingestWindows(parts, view, FREE)).toHaveLength(128);
  // A few binary searches for each kind of each window; all runs of both kinds would be a million.
  expect(looks).toBeLessThan(128 * KINDS.length * 200);
  expect(it.asked).toBeLessThanOrEqual(128);
});

test('four ingesters of 16 slots keep at least 60 windows running at 3 s latency', async () => {
  const [slots, latency, planEvery] = [64, 3_000, 1_000];
  const { database } = getDatabase(1_000_000);
  const maxPending = windowsToKeep(slots);
  const shares = createFairShares();
  const queue: (BlockRange & { kinds: readonly Kind[] })[] = [];
  const running: ((typeof queue)[number] & { until: number })[] = [];
  const done: BlockRange[] = [];
  for (let now = 0; now <= 120_000; now += 100) {
    for (let at = running.length - 1; at >= 0; at--) {
      const window = running[at];
      if (window !== undefined && window.until <= now) done.push(...running.splice(at, 1));
    }
    // Of windows that end apart from each other: one takes up to half a second less.
    const start = (): void => {
      for (const window of queue.splice(0, slots - running.length))
        running.push({ ...window, until: now + latency - (window.firstBlock % 6) * 100 });
    };
    start();
    if (now % planEvery === 0) {
      const staged = unionRanges(done);
      const view = toView([order(1, 0, null), order(2, 500_000, 500_099)], {
        pending: [...queue, ...running],
        coverage: new Map(KINDS.map((kind) => [kind, { staged, published: [], quarantined: [] }])),
      });
      const parts = { network, database, maxPending, shares };
      queue.push(...(await ingestWindows(parts, view, FREE)).map(({ payload }) => payload));
      start();
    }
    expect(running.length).toBeGreaterThanOrEqual(60);
  }
  expect(done.length).toBeGreaterThan(2_000);
});
