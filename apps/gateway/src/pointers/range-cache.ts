import type { BlockRange, Kind } from '@packhouse/chain';
import type { Clock } from '@packhouse/runtime';
import { findRange, type PublishedRange, packRanges, type RangePage, withRange } from './range-page.js';

/** Blocks of a page, aligned at multiples of this number. */
export const PAGE_BLOCKS = 16_384;

/** Bytes of a page beside its offsets: map entry and objects. */
const PAGE_OVERHEAD_BYTES = 320;

/** Most pages waiting to be loaded; others are requested again when they are needed. */
const MAX_WAITING = 10_000;

/**
 * The range index in memory. Published ranges never change, so a range found here stays true. A block without one may
 * still be published; the database must be asked.
 */
export interface RangeCache {
  /** The published range that holds the block, if known here. A page not in memory is loaded soon after. */
  find(network: string, kind: Kind, number: number): PublishedRange | undefined;
  /** Adds a range from the database to the page of `number`, a block in the range. */
  add(network: string, kind: Kind, number: number, range: PublishedRange): void;
  /**
   * Loads a page before anybody asks for it; it is dropped before all that were asked for. False: it does not fit
   * beside the others, and is not kept. Throws what `load` throws.
   */
  fill(network: string, kind: Kind, index: number): Promise<boolean>;
  /** Bytes in use. */
  readonly bytes: number;
  /** Resolves when no page is waiting to be loaded. */
  settled(): Promise<void>;
  /** Stops loading pages. */
  close(): void;
}

interface RangeCacheOptions {
  /** Ranges of published bundles that touch `range`, ascending. */
  load(network: string, kind: Kind, range: BlockRange): Promise<PublishedRange[]>;
  clock: Clock;
  /** Default 128 MiB, which holds about 16 million bundles. */
  maxBytes?: number;
}

interface WantedPage {
  network: string;
  kind: Kind;
  index: number;
}

/**
 * Creates an empty cache.
 *
 * No look-up waits for a page: reading one takes as long as many look-ups of single blocks. Pages are loaded in the
 * background, one at a time and half of the time at most, so that a gateway that just started is quick as well.
 */
export function createRangeCache(options: RangeCacheOptions): RangeCache {
  const { clock } = options;
  const maxBytes = options.maxBytes ?? 134_217_728;
  /** Pages of a network and a kind, by number. Looked up without building a string, since every pointer needs it. */
  const networks = new Map<string, Map<Kind, Map<number, RangePage>>>();
  const waiting = new Map<string, WantedPage>();
  let loading: Promise<void> | undefined;
  let closed = false;
  let bytes = 0;
  let questions = 0;
  let fills = 0;

  const pagesOf = (network: string, kind: Kind): Map<number, RangePage> => {
    let kinds = networks.get(network);
    if (kinds === undefined) {
      kinds = new Map();
      networks.set(network, kinds);
    }
    let pages = kinds.get(kind);
    if (pages === undefined) {
      pages = new Map();
      kinds.set(kind, pages);
    }
    return pages;
  };

  const forget = (pages: Map<number, RangePage>, index: number): void => {
    const page = pages.get(index);
    if (page === undefined) return;
    pages.delete(index);
    bytes -= sizeOf(page);
  };

  /** Searching all pages for the one to drop is cheap beside the query that loads a page. */
  const forgetOldest = (): void => {
    let oldest: { pages: Map<number, RangePage>; index: number; usedAt: number } | undefined;
    for (const kinds of networks.values()) {
      for (const pages of kinds.values()) {
        for (const [index, { usedAt }] of pages) {
          if (oldest === undefined || usedAt < oldest.usedAt) oldest = { pages, index, usedAt };
        }
      }
    }
    if (oldest !== undefined) forget(oldest.pages, oldest.index);
  };

  const keep = (pages: Map<number, RangePage>, index: number, page: RangePage): void => {
    forget(pages, index);
    questions += 1;
    page.usedAt = questions;
    pages.set(index, page);
    bytes += sizeOf(page);
    while (bytes > maxBytes) forgetOldest();
  };

  const loadWaiting = async (): Promise<void> => {
    for (const [name, { network, kind, index }] of waiting) {
      const base = index * PAGE_BLOCKS;
      const startedAt = performance.now();
      try {
        const ranges = await options.load(network, kind, { start: base, end: base + PAGE_BLOCKS - 1 });
        keep(pagesOf(network, kind), index, packRanges(base, ranges));
      } catch {
        // The next look-up of the page asks the database, throws its error, and requests the page again.
      }
      waiting.delete(name);
      if (closed) return;
      await clock.sleep(Math.max(1, performance.now() - startedAt));
    }
  };

  const want = (network: string, kind: Kind, index: number): void => {
    const name = `${network}/${kind}/${index}`;
    if (closed || waiting.size >= MAX_WAITING || waiting.has(name)) return;
    waiting.set(name, { network, kind, index });
    loading ??= loadWaiting().finally(() => {
      loading = undefined;
    });
  };

  return {
    find(network, kind, number) {
      const index = Math.floor(number / PAGE_BLOCKS);
      const page = networks.get(network)?.get(kind)?.get(index);
      if (page === undefined) {
        want(network, kind, index);
        return undefined;
      }
      questions += 1;
      page.usedAt = questions;
      return findRange(page, number);
    },
    add(network, kind, number, range) {
      const index = Math.floor(number / PAGE_BLOCKS);
      const pages = pagesOf(network, kind);
      const page = pages.get(index);
      if (page !== undefined) keep(pages, index, withRange(page, range));
    },
    async fill(network, kind, index) {
      const pages = pagesOf(network, kind);
      if (pages.has(index)) return true;
      const base = index * PAGE_BLOCKS;
      const page = packRanges(
        base,
        await options.load(network, kind, { start: base, end: base + PAGE_BLOCKS - 1 }),
      );
      if (bytes + sizeOf(page) > maxBytes) return false;
      // Asked for meanwhile, and loaded.
      if (pages.has(index)) return true;
      fills += 1;
      // Filled newest first: the oldest are dropped first.
      page.usedAt = -fills;
      pages.set(index, page);
      bytes += sizeOf(page);
      return true;
    },
    get bytes() {
      return bytes;
    },
    async settled() {
      while (loading !== undefined) await loading;
    },
    close() {
      closed = true;
      waiting.clear();
    },
  };
}

function sizeOf(page: RangePage): number {
  return page.offsets.byteLength + (page.gaps?.byteLength ?? 0) + PAGE_OVERHEAD_BYTES;
}
