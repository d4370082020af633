import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import { PAGE_BLOCKS, type RangeCache } from './range-cache.js';

/** Pages loaded at a time: a page of an old, sparse part is little more than the way to Postgres. */
const AT_A_TIME = 4;

/** How far the range index was loaded, and what ended it. */
interface Warmed {
  /** Pages of 16,384 blocks with something published. */
  pages: number;
  loaded: number;
  /** `whole`, or why it is not: the limit is over, RANGE_CACHE is full, the gateway closes, or Postgres failed. */
  outcome: 'whole' | 'late' | 'full' | 'closed' | 'failed';
}

interface PageName {
  network: string;
  kind: Kind;
  index: number;
}

/**
 * Loads the range index before the gateway is ready: the newest page of each network and kind, then the next, until all
 * are loaded, RANGE_CACHE is full, or `limitMs` is over. The rest is loaded on request. Never throws.
 */
export async function warmRanges(parts: {
  context: Context;
  database: Database;
  networks: readonly Network[];
  ranges: RangeCache;
  limitMs: number;
  signal: AbortSignal;
}): Promise<Warmed> {
  const { context, database, ranges, limitMs, signal } = parts;
  const { clock, logger } = context;
  const startedAt = clock.elapsed();
  let pages: PageName[] = [];
  let loaded = 0;
  let outcome: Warmed['outcome'] = 'whole';
  const shouldContinue = (): boolean => {
    if (outcome !== 'whole') return false;
    if (signal.aborted) outcome = 'closed';
    else if (clock.elapsed() - startedAt >= limitMs) outcome = 'late';
    return outcome === 'whole';
  };
  try {
    pages = await publishedPages(database, parts.networks);
    const rest = pages.values();
    const load = async (): Promise<void> => {
      for (const { network, kind, index } of rest) {
        if (!shouldContinue()) return;
        if (!(await ranges.fill(network, kind, index))) {
          outcome = 'full';
          return;
        }
        loaded += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, load));
  } catch (err) {
    outcome = 'failed';
    logger.warn({ err }, 'failed to load the range index; its pages are loaded on request');
  }
  const facts = { pages: pages.length, loaded, bytes: ranges.bytes, ms: clock.elapsed() - startedAt };
  if (outcome === 'whole') logger.info(facts, 'range index loaded');
  else logger.warn({ ...facts, outcome }, 'range index partly loaded; the rest is loaded on request');
  return { pages: pages.length, loaded, outcome };
}

/** All pages that have a published range: of each network and kind the newest, then of each the next. */
async function publishedPages(database: Database, networks: readonly Network[]): Promise<PageName[]> {
  const all: (PageName & { depth: number })[] = [];
  for (const { id: network, bundles } of networks) {
    if (!bundles.enabled) continue;
    for (const kind of bundles.kinds) {
      const { published } = await database.network(network).coverage(kind);
      all.push(...toPages(published).map((index, depth) => ({ network, kind, index, depth })));
    }
  }
  return all.sort((a, b) => a.depth - b.depth);
}

/** Numbers of the pages that ascending ranges touch, newest first. */
function toPages(ranges: readonly BlockRange[]): number[] {
  const pages = new Set<number>();
  for (const { firstBlock, lastBlock } of ranges.toReversed()) {
    for (let at = Math.floor(lastBlock / PAGE_BLOCKS); at >= Math.floor(firstBlock / PAGE_BLOCKS); at--)
      pages.add(at);
  }
  return [...pages];
}
