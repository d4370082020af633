import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { type HeadRow, SEGMENT_BLOCKS, type WantedRange } from '@packhouse/database';
import type { ChainHead } from '@packhouse/node-rpc';
import { type ExtractFailure, extract } from './extract.js';
import type { IngestParts } from './ingest.js';
import { intersectRanges, subtractRanges, unionRanges } from './ranges.js';
import { dropAbandoned } from './reorganise.js';
import { stage } from './stage.js';
import { intendedRanges } from './wanted-blocks.js';

/** Blocks that are fetched and staged together at the head; each is a fragment of its own. */
const HEAD_CHUNK = 4;

export interface FollowReport {
  head: Omit<HeadRow, 'observedAt'>;
  staged: number;
  failures: ExtractFailure[];
}

/**
 * One look at the head: notes it, drops what a reorganisation abandoned, stages the wanted blocks that are not
 * final yet. Final blocks are the planner's. Safe to repeat; blocks that fail are tried again at the next look.
 */
export async function follow(parts: IngestParts, signal: AbortSignal): Promise<FollowReport> {
  const { database, source, network } = parts;
  const chainHead = await source.head(signal);
  const head = { network, number: chainHead.number, hash: chainHead.hash, finalized: chainHead.finalized };
  await database.head.set(head);
  await dropIfReorganised(parts, chainHead, signal);

  const report: FollowReport = { head, staged: 0, failures: [] };
  const wanted = await database.wanted.list(network);
  for (const { range, kinds } of await missingAtHead(parts, wanted, chainHead)) {
    for (const chunk of chunks(range)) {
      signal.throwIfAborted();
      const { runs, failures } = await extractSingly(parts, chunk, kinds, signal);
      for (const run of runs) {
        await stage(parts, run, signal);
        report.staged += run.blocks.length;
      }
      report.failures.push(...failures);
      if (failures.length > 0) return report;
    }
  }
  return report;
}

/** Each block at the head is a run, and so a fragment, of its own: its file is ready the moment it is staged. */
async function extractSingly(
  parts: IngestParts,
  range: BlockRange,
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<Awaited<ReturnType<typeof extract>>> {
  const numbers = Array.from({ length: range.end - range.start + 1 }, (_, i) => range.start + i);
  const each = await Promise.all(
    numbers.map((number) => extract(parts, { start: number, end: number }, kinds, signal)),
  );
  return {
    runs: each.flatMap((result) => result.runs),
    failures: each.flatMap((result) => result.failures),
    wireBytes: each.reduce((sum, result) => sum + result.wireBytes, 0),
  };
}

/** The block at the height both know is compared; a chain that is merely shorter than what is staged is lagging. */
async function dropIfReorganised(parts: IngestParts, head: ChainHead, signal: AbortSignal): Promise<void> {
  const { database, network } = parts;
  const newest = await database.staging.newest(network);
  if (newest === null) return;
  const height = Math.min(head.number, newest.number);
  const [staged] = await database.staging.blocks(network, { start: height, end: height });
  if (staged === undefined || (height === head.number && staged.hash === head.hash)) return;
  if (height === head.number - 1 && staged.hash === head.parentHash) return;
  await dropAbandoned(parts, { start: height, end: height }, signal);
}

async function missingAtHead(
  { database, network }: IngestParts,
  wanted: readonly WantedRange[],
  head: ChainHead,
): Promise<{ range: BlockRange; kinds: Kind[] }[]> {
  const tip = { start: head.finalized + 1, end: head.number };
  if (tip.end < tip.start) return [];
  const missing = new Map<Kind, BlockRange[]>();
  for (const kind of KINDS) {
    const intended = intersectRanges(intendedRanges(wanted, kind, ['active']), [tip]);
    if (intended.length === 0) continue;
    const { staged, published } = await database.coverage(network, kind, tip);
    missing.set(kind, subtractRanges(intended, unionRanges([...staged, ...published])));
  }
  return unionRanges([...missing.values()].flat()).map((range) => ({
    range,
    kinds: KINDS.filter((kind) => intersectRanges(missing.get(kind) ?? [], [range]).length > 0),
  }));
}

/** Pieces of a range of HEAD_CHUNK blocks at most, none across a segment's border. */
function* chunks(range: BlockRange): Generator<BlockRange> {
  for (let start = range.start; start <= range.end; ) {
    const segmentEnd = start - (start % SEGMENT_BLOCKS) + SEGMENT_BLOCKS - 1;
    const end = Math.min(range.end, segmentEnd, start + HEAD_CHUNK - 1);
    yield { start, end };
    start = end + 1;
  }
}
