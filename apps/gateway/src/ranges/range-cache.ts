import type { BlockRange, Kind } from '@packhouse/chain';
import type { Soon } from '../server/soon.js';
import { BoundedLru } from '../serving/bounded-lru.js';
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
  const pages = new BoundedLru<RangePage>(options.maxBytes ?? 134_217_728);
  const loading = new Map<string, Promise<RangePage>>();

  const keep = (key: string, page: RangePage): void =>
    pages.set(key, page, page.offsets.byteLength + PAGE_OVERHEAD_BYTES);

  const load = (key: string, network: string, kind: Kind, base: number): Promise<RangePage> => {
    let page = loading.get(key);
    if (page === undefined) {
      page = options
        .load(network, kind, { start: base, end: base + PAGE_BLOCKS - 1 })
        .then((ranges) => {
          const loaded = packRanges(base, ranges);
          keep(key, loaded);
          return loaded;
        })
        .finally(() => loading.delete(key));
      loading.set(key, page);
    }
    return page;
  };

  return {
    find(network, kind, number) {
      const index = Math.floor(number / PAGE_BLOCKS);
      const key = pageKey(network, kind, index);
      const page = pages.get(key);
      if (page !== undefined) return findRange(page, number);
      return load(key, network, kind, index * PAGE_BLOCKS).then((loaded) => findRange(loaded, number));
    },
    add(network, kind, number, range) {
      const key = pageKey(network, kind, Math.floor(number / PAGE_BLOCKS));
      const page = pages.get(key);
      if (page !== undefined) keep(key, withRange(page, range));
    },
    get bytes() {
      return pages.size;
    },
  };
}

function pageKey(network: string, kind: Kind, index: number): string {
  return `${network}/${kind}/${index}`;
}
