import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { isBelowFinality, openFinalityAlarm } from '../head/finality-alarm.js';
import { subtractRanges, unionRanges } from '../ranges.js';
import { isNodeFault, mayBlameBlock } from './blame.js';
import { dropTraces } from './drop-traces.js';
import { fetchWish } from './extract.js';
import { holdFailed } from './hold-failed.js';
import { type Failed, type IngestParts, ingestPiece } from './ingest-piece.js';
import { missingPieces, type Piece } from './missing-pieces.js';

/** From this try of a job on, blocks that a living node cannot give are asked for one by one. */
const PATIENT_ATTEMPTS = 3;
/** From this try on, the last of a job, a whole window may be to blame where the node gives blocks elsewhere. */
const LAST_ATTEMPTS = 5;
/** Blocks that one try may blame like that; where more fail it is the node. */
const MAX_BLAMED = 4;

/**
 * One ingest job: first what is missing of the window is extracted, then it is staged, then blocks that failed are
 * quarantined. Nothing is staged while the chain differs below finality. Safe to repeat at any point. Throws what
 * makes a later try sensible; `attempt` counts the tries from 1.
 */
export async function ingest(
  parts: IngestParts,
  window: BlockRange & { kinds: readonly Kind[] },
  signal: AbortSignal,
  attempt = 1,
): Promise<{ staged: number; failed: number }> {
  let staged = 0;
  const failed: Failed[] = [];
  // Planned before the chain was seen to differ below finality: the plan comes back to it once that is settled.
  if ((await openFinalityAlarm(parts)) !== null) return { staged, failed: 0 };
  const { pieces, quarantined } = await missingWithin(parts, window);
  for (const piece of pieces) {
    const outcome = await ingestPiece(parts, piece, quarantined, signal);
    staged += outcome.staged;
    failed.push(...outcome.failed);
  }
  if (failed.some(({ failure }) => isBelowFinality(failure.error))) return { staged, failed: failed.length };
  const patient = attempt >= PATIENT_ATTEMPTS;
  const isHeld = ({ failure, unstaged }: Failed): boolean =>
    (unstaged && !patient) || isNodeFault(failure.error);
  const blamed = failed.filter((one) => !isHeld(one));
  let held = failed.filter(isHeld);
  // Whatever else was wanted of the window was had, now or before.
  const few = failed.length < window.end - window.start + 1 || window.start === window.end;
  if (held.length > 0 && few && patient && (await answers(parts, signal))) {
    const alone = await askAlone(parts, held, quarantined, signal);
    staged += alone.staged;
    blamed.push(...alone.blamed);
    held = alone.held;
  }
  const all = !few && attempt >= LAST_ATTEMPTS && held.every(({ failure }) => mayBlameBlock(failure.error));
  if (held.length > 0 && all && (await givesOthers(parts, window, signal))) {
    blamed.push(...held);
    held = [];
  }
  staged += await holdFailed(parts, blamed, quarantined, signal);
  const [first] = held;
  if (first !== undefined) throw first.failure.error;
  return { staged, failed: blamed.length };
}

/**
 * Asks for blocks one by one, so that a block which brings down whatever it is asked with (a trace that takes too
 * long) is told from its neighbours. `held` is what the node is to blame for after all.
 */
async function askAlone(
  parts: IngestParts,
  failed: readonly Failed[],
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<{ staged: number; blamed: Failed[]; held: Failed[] }> {
  const result = { staged: 0, blamed: [] as Failed[], held: [] as Failed[] };
  for (const one of failed) {
    if (!mayBlameBlock(one.failure.error) || result.blamed.length === MAX_BLAMED) {
      result.held.push(one);
      continue;
    }
    const { number } = one.failure;
    const again =
      failed.length === 1
        ? { staged: 0, failed: [one] }
        : await ingestPiece(
            parts,
            { range: { start: number, end: number }, kinds: one.kinds },
            quarantined,
            signal,
          );
    result.staged += again.staged;
    for (const still of again.failed) {
      const { error } = still.failure;
      const to = isNodeFault(error) && !mayBlameBlock(error) ? result.held : result.blamed;
      to.push(still);
    }
  }
  return result;
}

/** Whether the nodes answer at all: then it is the block that they cannot give. */
async function answers({ source }: IngestParts, signal: AbortSignal): Promise<boolean> {
  try {
    await source.head(signal);
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/**
 * Whether the nodes give the same of a block far away: then it is the window that they cannot give, such as blocks that
 * take too long to trace, one after the other. Windows like that would take all places of the queue in the end.
 */
async function givesOthers(
  { database, network, source }: IngestParts,
  window: BlockRange & { kinds: readonly Kind[] },
  signal: AbortSignal,
): Promise<boolean> {
  const head = await database.head.get(network);
  if (head === null || head.finalized < 0) return false;
  if (head.finalized >= window.start && head.finalized <= window.end) return false;
  try {
    dropTraces(await source.fetchBlock(head.finalized, fetchWish(window.kinds), { signal }));
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** What is neither staged nor published of the window, nor waits in the quarantine for its next try. */
async function missingWithin(
  { context, database, network }: IngestParts,
  window: BlockRange & { kinds: readonly Kind[] },
): Promise<{ pieces: Piece[]; quarantined: BlockRange[] }> {
  const now = context.clock.now();
  const rows = (await database.quarantine.within(network, window)).map((row) => ({
    kinds: row.kinds,
    resting: row.nextTry.getTime() > now,
    range: { start: row.number, end: row.end },
  }));
  const missing = new Map<Kind, BlockRange[]>();
  for (const kind of KINDS.filter((each) => window.kinds.includes(each))) {
    const { staged, published } = await database.coverage(network, kind, window);
    const resting = rows.filter((row) => row.resting && row.kinds.includes(kind)).map((row) => row.range);
    const whole = [{ start: window.start, end: window.end }];
    missing.set(kind, subtractRanges(whole, unionRanges([...staged, ...published, ...resting])));
  }
  return { pieces: missingPieces(missing), quarantined: unionRanges(rows.map((row) => row.range)) };
}
