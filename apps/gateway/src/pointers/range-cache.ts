import type { BlockRange, Kind } from '@packhouse/chain';
import { type Clock, getOrAdd } from '@packhouse/runtime';
import { findRange, type PublishedRange, packRanges, type RangePage, withRange } from './range-page.js';

/** Blocks of a page, aligned at multiples of this number. */
export const PAGE_BLOCKS = 16_384;

/** Bytes of a page beside its offsets: map entry and objects. */
const PAGE_OVERHEAD_BYTES = 320;

/** Most pages waiting to be loaded; others are requested again when they are needed. */
const MAX_WAITING = 10_000;

/**
 * The range index in memory. Published ranges never change, so a range found here stays true, until another database
 * answers, which may lack it. A block without one may still be published; only the database knows.
 */
export type RangeCache = ReturnType<typeof createRangeCache>;

interface PageRequest {
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
export function createRangeCache(options: {
  /** Ranges of published bundles that touch `range`, ascending. */
  load(network: string, kind: Kind, range: BlockRange): Promise<PublishedRange[]>;
  clock: Clock;
  /** Rises when another database answers: it is read again. */
  incarnation(): number;
  /** Default 128 MiB, which holds about 16 million bundles. */
  maxBytes?: number | undefined;
}) {
  const pages = createPages(options.incarnation, options.maxBytes ?? 134_217_728);

  const load = async (network: string, kind: Kind, index: number): Promise<RangePage> => {
    const firstBlock = index * PAGE_BLOCKS;
    const lastBlock = firstBlock + PAGE_BLOCKS - 1;
    return packRanges(firstBlock, await options.load(network, kind, { firstBlock, lastBlock }));
  };
  const loader = createLoader(options.clock, async ({ network, kind, index }) => {
    const asked = options.incarnation();
    const page = await load(network, kind, index);
    if (asked === options.incarnation()) pages.set(network, kind, index, page);
  });

  return {
    /** The published range that holds the block, if known here. A page not in memory is loaded soon after. */
    find(network: string, kind: Kind, number: number): PublishedRange | undefined {
      const index = Math.floor(number / PAGE_BLOCKS);
      const page = pages.use(network, kind, index);
      if (page !== undefined) return findRange(page, number);
      loader.request(network, kind, index);
      return undefined;
    },
    /** Adds a range from the database to the page of `number`, a block in the range. */
    add(network: string, kind: Kind, number: number, range: PublishedRange): void {
      const index = Math.floor(number / PAGE_BLOCKS);
      const page = pages.peek(network, kind, index);
      if (page !== undefined) pages.set(network, kind, index, withRange(page, range));
    },
    /**
     * Loads a page before it is requested; it is dropped before all that were requested. False: it does not fit
     * beside the others, and is not kept. Throws what `load` throws.
     */
    async fill(network: string, kind: Kind, index: number): Promise<boolean> {
      if (pages.peek(network, kind, index) !== undefined) return true;
      const asked = options.incarnation();
      const page = await load(network, kind, index);
      return asked !== options.incarnation() || pages.fill(network, kind, index, page);
    },
    /** Bytes in use. */
    get bytes(): number {
      return pages.bytes;
    },
    settled: loader.settled,
    close: loader.close,
  };
}

/**
 * Creates the memory of pages, which forgets all when another database answers, and those that were not used for the
 * longest time beyond `maxBytes`.
 */
function createPages(getIncarnation: () => number, maxBytes: number) {
  /** Pages of a network and a kind, by number. Looked up without building a string, since every pointer needs it. */
  const networks = new Map<string, Map<Kind, Map<number, RangePage>>>();
  let bytes = 0;
  let uses = 0;
  let fills = 0;
  let incarnation = getIncarnation();
  const forget = (): void => {
    if (getIncarnation() === incarnation) return;
    incarnation = getIncarnation();
    networks.clear();
    bytes = 0;
  };
  const getPages = (network: string, kind: Kind): Map<number, RangePage> => {
    const kinds = getOrAdd(networks, network, () => new Map<Kind, Map<number, RangePage>>());
    return getOrAdd(kinds, kind, () => new Map<number, RangePage>());
  };
  const drop = (pages: Map<number, RangePage>, index: number): void => {
    const page = pages.get(index);
    if (page === undefined) return;
    pages.delete(index);
    bytes -= getSize(page);
  };
  /** Searching all pages for the one to drop is cheap beside the query that loads a page. */
  const dropOldest = (): void => {
    let oldest: { pages: Map<number, RangePage>; index: number; usedAt: number } | undefined;
    for (const kinds of networks.values()) {
      for (const pages of kinds.values()) {
        for (const [index, { usedAt }] of pages) {
          if (oldest === undefined || usedAt < oldest.usedAt) oldest = { pages, index, usedAt };
        }
      }
    }
    if (oldest !== undefined) drop(oldest.pages, oldest.index);
  };
  const peek = (network: string, kind: Kind, index: number): RangePage | undefined => {
    forget();
    return networks.get(network)?.get(kind)?.get(index);
  };
  return {
    peek,
    /** The page, which is used now. */
    use(network: string, kind: Kind, index: number): RangePage | undefined {
      const page = peek(network, kind, index);
      if (page === undefined) return undefined;
      uses += 1;
      page.usedAt = uses;
      return page;
    },
    set(network: string, kind: Kind, index: number, page: RangePage): void {
      forget();
      const pages = getPages(network, kind);
      drop(pages, index);
      uses += 1;
      page.usedAt = uses;
      pages.set(index, page);
      bytes += getSize(page);
      while (bytes > maxBytes) dropOldest();
    },
    /** Adds a page that nobody asked for, if there is room. Filled newest first: the oldest are dropped first. */
    fill(network: string, kind: Kind, index: number, page: RangePage): boolean {
      if (bytes + getSize(page) > maxBytes) return false;
      const pages = getPages(network, kind);
      // Requested meanwhile, and loaded.
      if (pages.has(index)) return true;
      fills += 1;
      page.usedAt = -fills;
      pages.set(index, page);
      bytes += getSize(page);
      return true;
    },
    get bytes(): number {
      return bytes;
    },
  };
}

/** Loads requested pages, one at a time and half of the time at most. */
function createLoader(clock: Clock, load: (page: PageRequest) => Promise<void>) {
  const waiting = new Map<string, PageRequest>();
  let loading: Promise<void> | undefined;
  let closed = false;

  const loadWaiting = async (): Promise<void> => {
    for (const [name, page] of waiting) {
      const startedAt = performance.now();
      try {
        await load(page);
      } catch {
        // The next look-up of the page asks the database, throws its error, and requests the page again.
      }
      waiting.delete(name);
      if (closed) return;
      await clock.sleep(Math.max(1, performance.now() - startedAt));
    }
  };

  return {
    request(network: string, kind: Kind, index: number): void {
      const name = `${network}/${kind}/${index}`;
      if (closed || waiting.size >= MAX_WAITING || waiting.has(name)) return;
      waiting.set(name, { network, kind, index });
      loading ??= loadWaiting().finally(() => {
        loading = undefined;
      });
    },
    /** Resolves when no page is waiting to be loaded. */
    async settled(): Promise<void> {
      while (loading !== undefined) await loading;
    },
    /** Stops loading pages. */
    close(): void {
      closed = true;
      waiting.clear();
    },
  };
}

function getSize(page: RangePage): number {
  return page.offsets.byteLength + (page.gaps?.byteLength ?? 0) + PAGE_OVERHEAD_BYTES;
}
