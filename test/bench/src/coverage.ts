import { KINDS } from '@packhouse/chain';
import { benchMap } from './coverage-map.js';
import { openFilledPlace } from './filled-place.js';
import type { BenchOptions } from './options.js';
import { watchOthers } from './processes.js';
import type { BenchOutcome } from './result.js';

/** Bundles between two holes: at ten million rows that is some 285,000 holes in every kind. */
const GAP_EVERY = 7;
const PAGE = 500;
const SAMPLES = 200;
const P99_MS = 250;

/** Maps and pages of coverage anywhere in an index full of holes, one request after another, none of them cached. */
export async function benchCoverage(options: BenchOptions): Promise<BenchOutcome[]> {
  const { scope } = options;
  const filled = await openFilledPlace(scope, { ...options, gapEvery: GAP_EVERY });
  const { network, index } = filled;
  const { database } = filled.place;
  const head = { number: index.lastBlock, finalized: index.lastBlock, hash: `0x${'0'.repeat(64)}` };
  await database.network(network.id).head.set({ ...head });
  await database.network(network.id).backfills.add({ kinds: [...KINDS], from: 0, to: null, priority: 1 });
  const map = await benchMap(database, network.id, index.lastBlock);
  const gateway = await filled.startGateway();
  const base = `${gateway.url}/${network.id}/v1/${gateway.apiKey}/bundle-api/coverage?limit=${PAGE}`;
  const others = watchOthers();
  // The counts are of the whole range, so the first page of a second waits for them.
  const counted = await timed(`${base}&to=${index.lastBlock}`);
  const pages: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.floor(Math.random() * index.lastBlock);
    pages.push(await timed(`${base}&from=${from}&to=${Math.min(index.lastBlock, from + 1_000_000)}`));
  }
  const { cores: otherCores, words } = others.end();
  pages.sort((a, b) => a - b);
  const at = (share: number): number => pages[Math.floor((pages.length - 1) * share)] as number;
  const holes = Math.floor(index.rows / KINDS.length / GAP_EVERY);
  return [
    {
      name: `coverage, a page of ${PAGE} holes in each of ${KINDS.length} kinds, p99`,
      value: at(0.99),
      unit: 'ms',
      target: `under ${P99_MS} ms`,
      met: at(0.99) < P99_MS,
      note: [
        `${index.rows.toLocaleString('en-US')} bundles with ${holes.toLocaleString('en-US')} holes a kind`,
        `p50 ${at(0.5).toFixed(1)} ms, ${SAMPLES} requests one after the other, each of a range of its own of a million blocks, which is counted as well`,
        `the first page of everything, counts of all holes included, ${counted.toFixed(0)} ms`,
        ...words,
      ].join('; '),
      data: { index, pages, counted, otherCores },
    },
    ...map,
  ];
}

/** Milliseconds until the last byte of an answer. */
async function timed(url: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`coverage was answered with ${response.status}: ${body}`);
  return performance.now() - startedAt;
}
