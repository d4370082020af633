import type { Kind } from '@packhouse/chain';
import type { Match } from '@packhouse/rows';
import type { Gateway } from '../fetch/http.js';
import { holesIn } from '../manifest/bundle-rows.js';
import { blockDates } from '../mirror/block-dates.js';
import { type Hole, holesWithReasons, listFiles, nothingPublished } from '../mirror/list-published.js';
import { type Bound, resolveRange } from '../mirror/range.js';
import { estimateLoads } from '../rows/choose-files.js';

/** What pulling a range would take. */
export interface Quote {
  /** The first block asked for. */
  from: number;
  /** The last block asked for. */
  to: number;
  /** Without those that hold nothing of what is asked for. */
  files: number;
  /** Of the files, or of those parts of them that are downloaded. */
  bytes: number;
  /** Files that the gateway's filters rule out. */
  skippedFiles: number;
  /** The first blocks that are not published, with reasons. */
  missing: Hole[];
  /** The last block that the plan of the key includes, if it ends within the range. */
  limitedTo: number | null;
  /** Requests that a first pull sends, each of which counts against the plan. */
  requests: number;
}

/** Requests of a pull beside those of files: keys, head, coverage and a link. */
const BESIDE = 4;
/** Entries of the manifest in one request of a pull. */
const ENTRIES = 10_000;

interface QuoteRange {
  kind: Kind;
  from?: Bound | undefined;
  to?: Bound | undefined;
  match?: Match | undefined;
  /** False: files with rows that match are loaded whole, into a mirror. */
  parts?: boolean | undefined;
}

/** Asks what pulling a range would take; downloads nothing. Throws RANGE_INVALID, RANGE_INCOMPLETE and as `Http.get`. */
export async function quoteFiles(
  parts: Gateway,
  { kind, from, to, match = {}, parts: inParts = true }: QuoteRange,
  signal?: AbortSignal,
): Promise<Quote> {
  // What is counted from something else needs all to be known.
  const plain = from?.type === 'block' && to?.type === 'block';
  const bounds = plain ? { from: from.number, to: to.number } : {};
  const { rows, limitedTo } = await listFiles(parts, { kind, ...bounds }, signal);
  const extent = plain ? { firstBlock: from.number, lastBlock: to.number } : rows.extent();
  if (extent === null) throw nothingPublished(parts, kind);
  const range = await resolveRange(
    { from, to },
    extent,
    blockDates(parts, { kind, published: extent, known: {} }, signal),
  );
  const chosen = rows.choose(range);
  // What is counted from the newest file knows only those that the plan includes.
  const open = to === undefined || (to.type === 'relative' && to.blocks <= 0);
  const limit = limitedTo !== null && (open || limitedTo < range.lastBlock) ? limitedTo : null;
  const within = {
    firstBlock: range.firstBlock,
    lastBlock: Math.min(range.lastBlock, limit ?? range.lastBlock),
  };
  const gaps = within.firstBlock <= within.lastBlock ? holesIn(within, rows, chosen) : [];
  const missing = gaps.length === 0 ? [] : await holesWithReasons(parts, kind, within, signal);
  const before = parts.http.sent;
  const loads = chosen.length === 0 ? null : await estimateLoads(parts, { kind, match, ...within }, signal);
  const quote = { files: 0, bytes: 0, requests: 0 };
  for (const row of chosen) {
    const { firstBlock, bytes } = rows.at(row);
    const load = loads?.get(firstBlock);
    if (load?.requests === 0) continue;
    const { bytes: own, requests } = (inParts ? load : undefined) ?? { bytes, requests: 1 };
    quote.files += 1;
    quote.bytes += own;
    quote.requests += requests;
  }
  return {
    from: range.firstBlock,
    to: range.lastBlock,
    files: quote.files,
    bytes: quote.bytes,
    skippedFiles: chosen.length - quote.files,
    missing,
    limitedTo: limit,
    requests: quote.requests + BESIDE + Math.ceil(rows.count / ENTRIES) + parts.http.sent - before,
  };
}
