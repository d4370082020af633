import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { type HeadRow, SEGMENT_BLOCKS, type StagedBlock, type WantedRange } from '@packhouse/database';
import type { ChainHead } from '@packhouse/node-rpc';
import { type ExtractFailure, extract } from './extract.js';
import type { IngestParts } from './ingest-piece.js';
import { isNodeFault } from './node-faults.js';
import { intersectRanges, subtractRanges, unionRanges } from './ranges.js';
import { dropAbandoned, isAbandoned } from './reorganise.js';
import { stage } from './stage.js';
import { intendedRanges } from './wanted-blocks.js';

/** Blocks that are fetched and staged together at the head; each is a fragment of its own. */
const HEAD_CHUNK = 4;
/** A look that has more to stage ends after this long, in milliseconds, so that the head is noted and checked anew. */
const LONGEST_LOOK_MS = 3_000;

export interface FollowReport {
  head: Omit<HeadRow, 'observedAt'>;
  staged: number;
  failures: ExtractFailure[];
  /** Whether the look ended before all was staged: the next one should not wait. */
  behind: boolean;
}

/**
 * One look at the head: drops what a reorganisation abandoned, notes the head, stages the wanted blocks that are not
 * final yet. Final blocks are the planner's. Safe to repeat; blocks that fail are tried again at the next look.
 *
 * The head is noted last of the two because packers take its word for what is final: until the staged blocks were
 * compared with the chain they may belong to a branch that it has left. The newest blocks are staged first, so that
 * neither a long way to go nor a block that fails keeps them waiting.
 */
export async function follow(parts: IngestParts, signal: AbortSignal): Promise<FollowReport> {
  const { database, source, network } = parts;
  const chainHead = await source.head(signal);
  const head = { network, number: chainHead.number, hash: chainHead.hash, finalized: chainHead.finalized };
  await dropIfReorganised(parts, chainHead, signal);
  await database.head.set(head);

  const report: FollowReport = { head, staged: 0, failures: [], behind: false };
  const { clock } = parts.context;
  const lookUntil = clock.now() + LONGEST_LOOK_MS;
  const wanted = await database.wanted.list(network);
  for (const { range, kinds } of (await missingAtHead(parts, wanted, chainHead)).reverse()) {
    for (const chunk of [...chunks(range)].reverse()) {
      signal.throwIfAborted();
      if (clock.now() > lookUntil) return { ...report, behind: report.staged > 0 };
      const { runs, failures } = await extractSingly(parts, chunk, kinds, signal);
      for (const run of runs) {
        await stage(parts, run, signal);
        report.staged += run.blocks.length;
      }
      report.failures.push(...failures);
      // The node itself is in trouble: the older blocks would only fail as well.
      if (runs.length === 0 && failures.some(({ error }) => isNodeFault(error))) return report;
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

/**
 * Compares with the chain the highest block of every linked run that was not final when the head was noted last: what
 * is below it in the run is as true as it is. A chain that is merely shorter than what is staged is lagging.
 */
async function dropIfReorganised(parts: IngestParts, head: ChainHead, signal: AbortSignal): Promise<void> {
  const { database, network, source } = parts;
  const noted = await database.head.get(network);
  const open = { start: (noted?.finalized ?? -1) + 1, end: head.number };
  if (open.end < open.start) return;
  for (const top of runTops(await database.staging.blocks(network, open))) {
    if (top.number === head.number && top.hash === head.hash) continue;
    if (top.number === head.number - 1 && top.hash === head.parentHash) continue;
    if (!(await isAbandoned(source, top, signal))) continue;
    // Drops all that is staged behind the ancestor, so also the runs above.
    await dropAbandoned(parts, { start: top.number, end: top.number }, signal);
    return;
  }
}

/** The highest block of each run of blocks that follow one another, ascending. */
function runTops(blocks: readonly StagedBlock[]): StagedBlock[] {
  return blocks.filter((block, i) => {
    const next = blocks[i + 1];
    return next === undefined || next.number !== block.number + 1 || next.parentHash !== block.hash;
  });
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
