import type { BlockRange, Kind } from '@packhouse/chain';
import type { Soon } from '../server/soon.js';
import { findRange, packRanges, type RangePage, withRange } from './range-page.js';

/** Blocks a page covers, aligned at multiples of it. */
export const PAGE_BLOCKS = 16_384;

/** What a page costs beside its offsets: map entry, key, objects; bytes. */
const PAGE_OVERHEAD_BYTES = 320;

/**
 * The range index in memory. Published ranges never change, so what is found here is true for ever; what is not
 * found may have been published since and has to be asked of the database.
 */
export interface RangeCache {
  /** The published range that holds the block, as far as known here. Loads the block's page where it is not here. */
  find(network: string, kind: Kind, number: number): Soon<BlockRange | undefined>;
  /** Adds a range that the database told of, to the page of `number`, a block of it. */
  add(network: string, kind: Kind, number: number, range: BlockRange): void;
  /** Bytes in use. */
  readonly bytes: number;
}

export interface RangeCacheOptions {
  /** Ranges of published bundles that touch `range`, ascending. */
  load(network: string, kind: Kind, range: BlockRange): Promise<BlockRange[]>;
  /** Default 128 MiB, which holds about 16 million bundles. */
  maxBytes?: number;
}

/** Makes an empty cache; pages are loaded as they are asked for, each by one query however many ask at once. */
export function createRangeCache(options: RangeCacheOptions): RangeCache {
  const maxBytes = options.maxBytes ?? 134_217_728;
  /** Of a network and a kind, by number. Looked up without making a string: this is the way of every pointer. */
  const shelves = new Map<string, Map<Kind, Map<number, RangePage>>>();
  const loading = new Map<string, Promise<RangePage>>();
  let bytes = 0;
  let questions = 0;

  const shelfOf = (network: string, kind: Kind): Map<number, RangePage> => {
    let kinds = shelves.get(network);
    if (kinds === undefined) {
      kinds = new Map();
      shelves.set(network, kinds);
    }
    let shelf = kinds.get(kind);
    if (shelf === undefined) {
      shelf = new Map();
      kinds.set(kind, shelf);
    }
    return shelf;
  };

  const forget = (shelf: Map<number, RangePage>, index: number): void => {
    const page = shelf.get(index);
    if (page === undefined) return;
    shelf.delete(index);
    bytes -= sizeOf(page);
  };

  /** A page costs a query; beside that, looking through all of them for the one to forget is nothing. */
  const forgetOldest = (): void => {
    let oldest: { shelf: Map<number, RangePage>; index: number; usedAt: number } | undefined;
    for (const kinds of shelves.values()) {
      for (const shelf of kinds.values()) {
        for (const [index, { usedAt }] of shelf) {
          if (oldest === undefined || usedAt < oldest.usedAt) oldest = { shelf, index, usedAt };
        }
      }
    }
    if (oldest !== undefined) forget(oldest.shelf, oldest.index);
  };

  const keep = (shelf: Map<number, RangePage>, index: number, page: RangePage): void => {
    forget(shelf, index);
    questions += 1;
    page.usedAt = questions;
    shelf.set(index, page);
    bytes += sizeOf(page);
    while (bytes > maxBytes) forgetOldest();
  };

  const load = (network: string, kind: Kind, index: number): Promise<RangePage> => {
    const name = `${network}/${kind}/${index}`;
    let page = loading.get(name);
    if (page === undefined) {
      const base = index * PAGE_BLOCKS;
      page = options
        .load(network, kind, { start: base, end: base + PAGE_BLOCKS - 1 })
        .then((ranges) => {
          const loaded = packRanges(base, ranges);
          keep(shelfOf(network, kind), index, loaded);
          return loaded;
        })
        .finally(() => loading.delete(name));
      loading.set(name, page);
    }
    return page;
  };

  return {
    find(network, kind, number) {
      const index = Math.floor(number / PAGE_BLOCKS);
      const page = shelves.get(network)?.get(kind)?.get(index);
      if (page === undefined) return load(network, kind, index).then((loaded) => findRange(loaded, number));
      questions += 1;
      page.usedAt = questions;
      return findRange(page, number);
    },
    add(network, kind, number, range) {
      const index = Math.floor(number / PAGE_BLOCKS);
      const shelf = shelfOf(network, kind);
      const page = shelf.get(index);
      if (page !== undefined) keep(shelf, index, withRange(page, range));
    },
    get bytes() {
      return bytes;
    },
  };
}

function sizeOf(page: RangePage): number {
  return page.offsets.byteLength + PAGE_OVERHEAD_BYTES;
}
