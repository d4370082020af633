import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { type HeadRow, SEGMENT_BLOCKS, type WantedRange } from '@packhouse/database';
import type { BlockAnchor, ChainHead } from '@packhouse/node-rpc';
import { isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { lookAtHead } from '../head/look-at-head.js';
import { compareStaged, dropAbandoned } from '../head/reorganise.js';
import { intendedRanges } from '../publish/wanted-blocks.js';
import { intersectRanges, subtractRanges, unionRanges } from '../ranges.js';
import { isNodeFault } from './blame.js';
import { type ExtractFailure, extract } from './extract.js';
import type { IngestParts } from './ingest-piece.js';
import { stage } from './stage.js';

/** Blocks that are fetched and staged together at the head; each is a fragment of its own. */
const HEAD_CHUNK = 4;
/** A look that has more to stage ends after this long, in milliseconds, so that the head is noted and checked anew. */
const LONGEST_LOOK_MS = 3_000;

export interface FollowReport {
  /** null while the chain differs below finality. */
  head: Omit<HeadRow, 'observedAt'> | null;
  staged: number;
  failures: ExtractFailure[];
  /** Whether the look ended before all was staged: the next one should not wait. */
  behind: boolean;
  /** Why nothing is staged at the head: REORG_BELOW_FINALITY, the alarm is open. */
  halted: PackhouseError | null;
}

/**
 * One look at the head: drops what a reorganisation abandoned, notes the head, stages the wanted blocks that are not
 * final yet. Final blocks are the planner's. Safe to repeat; blocks that fail are tried again at the next look.
 *
 * The head is noted last of the two because packers take its word for what is final: until the staged blocks were
 * compared with the chain they may belong to a branch that it has left. What is final stays final: a lower `finalized`
 * is a node that lags, and a chain that has another block in a final one's place stops the head (see lookAtHead). The
 * newest blocks are staged first, so that neither a long way to go nor a block that fails keeps them waiting. Nothing
 * is staged while `mayStage` says no: staging is far beyond full.
 */
export async function follow(
  parts: IngestParts & { mayStage?: () => boolean },
  signal: AbortSignal,
): Promise<FollowReport> {
  const { database, network } = parts;
  const look = await lookAtHead(parts, signal);
  if (look.halted !== null)
    return { head: null, staged: 0, failures: [], behind: false, halted: look.halted };
  const chainHead = look.head;
  const noted = await database.head.get(network);
  const floor = look.keptTo ?? noted?.finalized ?? -1;
  const compared = await compareStaged(parts, chainHead, floor + 1, signal, look.anchor);
  if (compared.is === 'abandoned') await dropAbandoned(parts, compared.from);
  // Answers that do not belong together say nothing about what is final.
  const finalized = compared.is === 'unclear' ? floor : Math.max(floor, chainHead.finalized);
  const head = { network, number: chainHead.number, hash: chainHead.hash, finalized };
  await database.head.set(head);

  const report: FollowReport = { head, staged: 0, failures: [], behind: false, halted: null };
  if (parts.mayStage?.() !== false) await stageMissing(parts, { ...chainHead, finalized }, report, signal);
  await noteAnchor(parts, chainHead, finalized, look, signal);
  return report;
}

/** Stages what is missing above the newest final block, and tells of it in `report`. */
async function stageMissing(
  parts: IngestParts,
  chainHead: ChainHead,
  report: FollowReport,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = parts.context;
  const lookUntil = clock.now() + LONGEST_LOOK_MS;
  const wanted = await parts.database.wanted.list(parts.network);
  for (const { range, kinds } of (await missingAtHead(parts, wanted, chainHead)).reverse()) {
    for (const chunk of [...chunks(range)].reverse()) {
      signal.throwIfAborted();
      if (clock.now() > lookUntil) {
        report.behind = report.staged > 0;
        return;
      }
      const { runs, failures } = await extractSingly(parts, chunk, kinds, signal);
      for (const run of runs) {
        try {
          await stage(parts, run, signal);
        } catch (error) {
          if (!isPackhouseError(error, 'STAGE_CONFLICT')) throw error;
          // The chain moved since the head was asked for: the next look compares anew what is staged.
          report.behind = report.staged > 0;
          return;
        }
        report.staged += run.blocks.length;
      }
      report.failures.push(...failures);
      // The node itself is in trouble: the older blocks would only fail as well.
      if (runs.length === 0 && failures.some(({ error }) => isNodeFault(error))) return;
    }
  }
}

/** Notes the hash of the newest final block: the chain has to have it from now on. */
async function noteAnchor(
  { database, network, source }: IngestParts,
  head: ChainHead,
  finalized: number,
  look: { anchor: BlockAnchor | null; keptTo: number | null },
  signal: AbortSignal,
): Promise<void> {
  if (look.keptTo !== null) await database.head.setAnchor(network, look.anchor);
  if (finalized < 0 || finalized > head.number || finalized <= (look.anchor?.number ?? -1)) return;
  const [staged] = await database.staging.blocks(network, { start: finalized, end: finalized });
  const told = finalized === head.finalized ? head.finalizedHash : null;
  if (staged !== undefined && told !== null && staged.hash !== told) return;
  const asked = async (): Promise<string | undefined> =>
    (await source.headers([finalized], { from: head.upstream, signal }))[0]?.hash;
  const hash = staged?.hash ?? told ?? (await asked());
  if (hash !== undefined) await database.head.setAnchor(network, { number: finalized, hash });
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
