import { type BlockRange, intersectRanges, type Kind, unionRanges } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { memberFault, type OpenedBundle } from './open-bundle.js';

/** Ranges of bundles are listed for this many blocks at a time, so that the whole index is never in memory. */
const WINDOW_BLOCKS = 65_536;

/**
 * The index rows of the chosen bundles of a kind that touch a range, ascending. A row that cannot be read is passed to
 * `onBadRow` and left out.
 */
export async function* selectBundles(
  database: Database,
  request: {
    network: string;
    kind: Kind;
    range: BlockRange;
    chosen(bundle: BlockRange): boolean;
    onBadRow(bundle: BlockRange, error: Error): void;
  },
): AsyncGenerator<BundleRow, void, undefined> {
  const { network, kind } = request;
  for await (const bundle of bundleRanges(database, request)) {
    if (!request.chosen(bundle)) continue;
    try {
      const row = await database.network(network).bundles.covering(kind, bundle.firstBlock);
      if (row !== null) yield row;
    } catch (error) {
      if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
      request.onBadRow(bundle, error);
    }
  }
}

/** The ranges of all bundles of a kind that touch a range, ascending, a window at a time. */
async function* bundleRanges(
  database: Database,
  { network, kind, range }: { network: string; kind: Kind; range: BlockRange },
): AsyncGenerator<BlockRange, void, undefined> {
  const { published } = await database.network(network).coverage(kind, range);
  let seen = -1;
  for (const span of intersectRanges(unionRanges(published), [range])) {
    for (let firstBlock = span.firstBlock; firstBlock <= span.lastBlock; firstBlock += WINDOW_BLOCKS) {
      const window = { firstBlock, lastBlock: Math.min(span.lastBlock, firstBlock + WINDOW_BLOCKS - 1) };
      for (const bundle of await database.network(network).bundles.ranges(kind, window)) {
        // A bundle that reaches into the next window is in both.
        if (bundle.firstBlock <= seen) continue;
        seen = bundle.firstBlock;
        yield bundle;
      }
    }
  }
}

/** One block's record of one kind, as a published file holds it. */
export interface BundleRecord {
  number: number;
  row: BundleRow;
  /** null: too large for memory, to be streamed. */
  text: Buffer | null;
  /** Only read to check others against; its bundle is not audited now. */
  side?: true;
}

/** Bundles of a kind that are read while another one is checked. */
const READ_AHEAD = 2;
/** Larger ones are not read ahead. */
const READ_AHEAD_BYTES = 8_000_000;

/** Opens bundles in order, the next ones while the current one is checked. */
export async function* openAhead(
  rows: AsyncIterable<BundleRow>,
  open: (row: BundleRow) => Promise<OpenedBundle | null>,
): AsyncGenerator<OpenedBundle, void, undefined> {
  const iterator = rows[Symbol.asyncIterator]();
  const opening: { row: BundleRow; bundle: Promise<OpenedBundle | null> }[] = [];
  let ended = false;
  let held: BundleRow | null = null;
  try {
    for (;;) {
      while (!ended && opening.length < READ_AHEAD) {
        if (held === null) {
          const next = await iterator.next();
          if (next.done === true) {
            ended = true;
            break;
          }
          held = next.value;
        }
        if (opening.length > 0 && held.byteLength > READ_AHEAD_BYTES) break;
        const bundle = open(held);
        bundle.catch(() => undefined);
        opening.push({ row: held, bundle });
        held = null;
      }
      const first = opening.shift();
      if (first === undefined) return;
      const opened = await first.bundle;
      if (opened !== null) yield opened;
    }
  } finally {
    await Promise.allSettled(opening.map(({ bundle }) => bundle));
    await iterator.return?.();
  }
}

/**
 * The records of the opened bundles, block by block. A bundle that differs from its fragment table is reported and ends
 * there; `done` is called for each bundle after its last record was checked.
 */
export async function* bundleRecords(
  bundles: AsyncIterable<OpenedBundle>,
  report: AuditReport,
  done: (row: BundleRow) => void,
): AsyncGenerator<BundleRecord, void, undefined> {
  for await (const { row, bytes, fragments } of bundles) {
    try {
      if (fragments === null) yield { number: row.firstBlock, row, text: null };
      else {
        for await (const { fragment, records } of fragments) {
          for (const [i, text] of records.entries()) yield { number: fragment.firstBlock + i, row, text };
        }
      }
    } catch (error) {
      if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
      report.fault(row, await memberFault(bytes, error));
    }
    done(row);
  }
}
