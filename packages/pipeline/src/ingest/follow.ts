import {
  type BlockRange,
  intersectRanges,
  KINDS,
  type Kind,
  subtractRanges,
  unionRanges,
} from '@packhouse/chain';
import { type HeadRow, type QuarantineRow, SEGMENT_BLOCKS } from '@packhouse/database';
import type { BlockAnchor, ChainHead } from '@packhouse/node-rpc';
import { isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { pollHead } from '../head/poll-head.js';
import { compareStaged, dropAbandoned } from '../head/reorganise.js';
import type { IngestWindow } from '../job-names.js';
import { getCause, isNodeFault, isProbed, toFault } from './blame.js';
import { extractRuns } from './extract.js';
import { holdBlocks } from './hold-failed.js';
import { type Failed, type IngestParts, missingPieces } from './ingest-piece.js';
import { rowsTried, toRange, unknownFork, withoutResting } from './probed-rows.js';
import type { ExtractFailure } from './prove-block.js';
import { stage } from './stage.js';
import { stageOtherKinds } from './stage-other-kinds.js';
import { noteUnknownFields } from './unknown-fields.js';

/** Blocks at the head that are fetched and staged together; each is a fragment of its own. */
const HEAD_CHUNK = 4;
/** A poll that has more to stage ends after this long, in milliseconds, so that the head is noted and checked again. */
const MAX_POLL_MS = 3_000;

interface FollowReport {
  /** null while the chain differs below finality. */
  head: Omit<HeadRow, 'observedAt'> | null;
  staged: number;
  failures: ExtractFailure[];
  /** Whether blocks that are not final yet are requested. */
  followed: boolean;
  /** Whether the poll ended before all was staged: the next one should not wait. */
  behind: boolean;
  /** REORG_BELOW_FINALITY while its alarm is open: nothing is staged at the head. */
  halted: PackhouseError | null;
}

/**
 * One poll of the head: drops what a reorganisation abandoned, notes the head, stages the requested blocks that are not
 * final yet. Final blocks are the planner's. Safe to repeat; blocks that fail are tried again at the next poll.
 *
 * The head is noted after the staged blocks were compared with the chain: packers rely on its finality, and until then
 * staged blocks may belong to a branch that the chain has left. What is final stays final: a lower `finalized` comes
 * from a node that lags, and another block in place of a final one stops the head (see pollHead). The newest blocks
 * are staged first, so that neither many older ones nor a block that fails delays them; a kind that fails delays no
 * other. Nothing is staged while `mayStage` returns false: staging is far beyond full. While `asksFinalized` returns
 * false, the newest final block is that of an earlier poll.
 */
export async function follow(
  parts: IngestParts & { mayStage?: () => boolean; asksFinalized?: () => boolean },
  signal: AbortSignal,
): Promise<FollowReport> {
  const { database, network } = parts;
  const polled = await pollHead(parts, signal);
  if (polled.halted !== null)
    return { head: null, staged: 0, failures: [], followed: true, behind: false, halted: polled.halted };
  const chainHead = polled.head;
  const noted = await database.head.get();
  const floor = polled.keptTo ?? noted?.finalized ?? -1;
  const request = { head: chainHead, floor: floor + 1, below: polled.anchor };
  const compared = await compareStaged(parts, request, signal);
  if (compared.is === 'abandoned') await dropAbandoned(parts, compared.from);
  // Answers that do not belong together say nothing about finality.
  const finalized = compared.is === 'unclear' ? floor : Math.max(floor, chainHead.finalized);
  const head = { network, number: chainHead.number, hash: chainHead.hash, finalized };
  if (!isNoted(head, noted, parts.context.clock.now())) await database.head.set(head);

  const { active } = await database.backfills.runs();
  const followed = [...active.values()].some((runs) => (runs.at(-1)?.lastBlock ?? -1) > finalized);
  const report: FollowReport = { head, staged: 0, failures: [], followed, behind: false, halted: null };
  if (parts.mayStage?.() !== false) await stageMissing(parts, { ...chainHead, finalized }, report, signal);
  await noteAnchor(parts, chainHead, finalized, polled, signal);
  return report;
}

/** How old a note of the same head may be, in milliseconds: metrics say when the head was noted last. */
const NOTE_EVERY_MS = 5_000;

/** Whether the head is noted as it is, and lately: a node is asked several times for each block that it gets. */
function isNoted(head: Omit<HeadRow, 'observedAt'>, noted: HeadRow | null, now: number): boolean {
  if (noted === null || head.hash !== noted.hash || head.finalized !== noted.finalized) return false;
  // Another process's clock may differ in either direction.
  return Math.abs(now - noted.observedAt.getTime()) < NOTE_EVERY_MS;
}

/** Stages what is missing above the newest final block, and adds it to `report`. */
async function stageMissing(
  parts: IngestParts,
  chainHead: ChainHead,
  report: FollowReport,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = parts.context;
  const pollUntil = clock.elapsed() + MAX_POLL_MS;
  const { pieces, probed } = await missingAtHead(parts, chainHead);
  for (const window of pieces.reverse()) {
    for (const chunk of toChunks(window).reverse()) {
      signal.throwIfAborted();
      if (clock.elapsed() > pollUntil) {
        report.behind = report.staged > 0;
        return;
      }
      try {
        const before = report.staged;
        const failures = await stageChunk(parts, chunk, { report, probed }, signal);
        // The node itself fails: the older blocks would fail as well.
        if (report.staged === before && failures.some(({ error }) => isNodeFault(error))) return;
      } catch (error) {
        if (!isPackhouseError(error, 'STAGE_CONFLICT')) throw error;
        // The chain moved since the head was asked for: the next poll compares again what is staged.
        report.behind = report.staged > 0;
        return;
      }
    }
  }
}

/** Stages the blocks of a chunk, and of those that fail the kinds that do not. Returns the failures that remain. */
async function stageChunk(
  parts: IngestParts,
  chunk: IngestWindow,
  { report, probed }: { report: FollowReport; probed: readonly QuarantineRow[] },
  signal: AbortSignal,
): Promise<Failed[]> {
  const stageWindow = async (window: IngestWindow, source = parts.source, suspected = false) => {
    const extracted = await extractSingly({ ...parts, source }, window, signal, suspected);
    const { runs, failures, unknownFields } = extracted;
    for (const run of runs) await stage(parts, run, signal);
    await noteUnknownFields(parts, unknownFields);
    const { kinds } = window;
    const failed: Failed[] = failures.map((failure) => ({ ...failure, kinds, unstaged: false }));
    return { staged: runs.length, failed };
  };
  const { staged, failed } = await stageWindow(chunk);
  report.staged += staged;
  // All at once: each may wait for a node that does not answer for one kind.
  const others = await Promise.allSettled(
    failed.map((one) =>
      toFault(one) === 'node'
        ? { staged: 0, left: [one] }
        : stageOtherKinds(
            parts,
            { firstBlock: one.number, lastBlock: one.number, kinds: one.kinds, failed: [one] },
            signal,
            (source, window) => stageWindow(window, source, true),
          ),
    ),
  );
  const left: Failed[] = [];
  for (const one of others) {
    if (one.status === 'rejected') throw one.reason;
    report.staged += one.value.staged;
    left.push(...one.value.left);
  }
  report.failures.push(...left);
  const named = left.filter(({ error }) => isProbed(getCause(error)));
  await holdBlocks(parts, named, rowsTried(probed, chunk), signal);
  return left;
}

/** Notes the hash of the newest final block: the chain must have it from now on. */
async function noteAnchor(
  { database, source }: IngestParts,
  head: ChainHead,
  finalized: number,
  polled: { anchor: BlockAnchor | null; keptTo: number | null },
  signal: AbortSignal,
): Promise<void> {
  if (polled.keptTo !== null) await database.head.setAnchor(polled.anchor);
  if (finalized < 0 || finalized > head.number || finalized <= (polled.anchor?.number ?? -1)) return;
  const [staged] = await database.staging.blocks({ firstBlock: finalized, lastBlock: finalized });
  const known = finalized === head.finalized ? head.finalizedHash : null;
  if (staged !== undefined && known !== null && staged.hash !== known) return;
  const asked = async (): Promise<string | undefined> =>
    (await source.headers([finalized], { from: head.upstream, signal }))[0]?.hash;
  const hash = staged?.hash ?? known ?? (await asked());
  if (hash !== undefined) await database.head.setAnchor({ number: finalized, hash });
}

/** Each block at the head is a run, and so a fragment, of its own: its file is ready as soon as it is staged. */
async function extractSingly(
  parts: IngestParts,
  { firstBlock, lastBlock, kinds }: IngestWindow,
  signal: AbortSignal,
  suspected: boolean,
): Promise<Omit<Awaited<ReturnType<typeof extractRuns>>, 'wireBytes'>> {
  const numbers = Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => firstBlock + i);
  const each = await Promise.all(
    numbers.map((number) =>
      extractRuns(parts, { firstBlock: number, lastBlock: number, kinds }, signal, suspected),
    ),
  );
  return {
    runs: each.flatMap(({ runs }) => runs),
    failures: each.flatMap(({ failures }) => failures),
    unknownFields: each.flatMap(({ unknownFields }) => unknownFields),
  };
}

/** The requested blocks that are not final and neither staged nor published; of rows that are probed, the due ones. */
async function missingAtHead(
  { database }: IngestParts,
  head: ChainHead,
): Promise<{ pieces: IngestWindow[]; probed: QuarantineRow[] }> {
  const { active } = await database.backfills.runs();
  const tip = { firstBlock: head.finalized + 1, lastBlock: head.number };
  if (tip.lastBlock < tip.firstBlock) return { pieces: [], probed: [] };
  const within = (await database.quarantine.within(tip)).filter(({ cause }) => isProbed(cause));
  const fork = await unknownFork(database);
  // All blocks after an unknown fork are of it.
  const rows =
    fork === null || fork.firstBlock > tip.lastBlock
      ? within
      : [
          ...within.filter(({ firstBlock }) => firstBlock < fork.firstBlock),
          { ...fork, lastBlock: Math.max(fork.lastBlock, tip.lastBlock) },
        ];
  const missing = new Map<Kind, BlockRange[]>();
  const intended = (kind: Kind): BlockRange[] => intersectRanges(active.get(kind) ?? [], [tip]);
  const kinds = KINDS.filter((kind) => intended(kind).length > 0);
  // Of rows that begin below the tip, the planner tries the first block.
  const below = rows.filter(({ firstBlock }) => firstBlock <= head.finalized);
  for (const [kind, { staged, published }] of await database.coverages(kinds, tip)) {
    const held = below.filter((row) => row.kinds.includes(kind)).map(toRange);
    missing.set(kind, subtractRanges(intended(kind), unionRanges([...staged, ...published, ...held])));
  }
  const above = rows.filter(({ firstBlock }) => firstBlock > head.finalized);
  const probed = withoutResting(missing, above);
  return { pieces: missingPieces(missing), probed };
}

/** A window in chunks of HEAD_CHUNK blocks at most, none across a segment's border. */
function toChunks(window: IngestWindow): IngestWindow[] {
  const chunks: IngestWindow[] = [];
  for (let { firstBlock } = window; firstBlock <= window.lastBlock; ) {
    const segmentEnd = firstBlock - (firstBlock % SEGMENT_BLOCKS) + SEGMENT_BLOCKS - 1;
    const lastBlock = Math.min(window.lastBlock, segmentEnd, firstBlock + HEAD_CHUNK - 1);
    chunks.push({ firstBlock, lastBlock, kinds: window.kinds });
    firstBlock = lastBlock + 1;
  }
  return chunks;
}
