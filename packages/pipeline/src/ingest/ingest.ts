import { type BlockRange, KINDS, type Kind, subtractRanges, unionRanges } from '@packhouse/chain';
import type { QuarantineRow } from '@packhouse/database';
import { isBudgetError } from '@packhouse/runtime';
import { isBelowFinality, openFinalityAlarm } from '../head/finality-alarm.js';
import type { IngestWindow } from '../job-names.js';
import { getRemedy, type Remedy, toFault } from './blame.js';
import { tryFetch } from './extract.js';
import { holdFailed } from './hold-failed.js';
import { type Failed, type IngestParts, ingestPiece, missingPieces } from './ingest-piece.js';
import { toRange, withoutResting } from './probed-rows.js';

/** Blocks that one try may hold after it asked for them alone; if more fail, it is the node. */
const MAX_ALONE = 4;

/**
 * One ingest job: extracts and stages the missing blocks of the window, then quarantines blocks that failed (`blame.ts`
 * has the policy). Nothing is staged while the chain differs below finality. Safe to repeat at any point. Throws errors
 * that a later try may solve; `attempt` counts the tries from 1.
 */
export async function ingest(
  parts: IngestParts,
  window: IngestWindow,
  signal: AbortSignal,
  attempt = 1,
): Promise<{ staged: number; failed: number }> {
  let staged = 0;
  const failed: Failed[] = [];
  // Planned before the chain was seen to differ below finality: planned again when that is settled.
  if ((await openFinalityAlarm(parts)) !== null) return { staged, failed: 0 };
  const { pieces, quarantined, probed } = await missingWithin(parts, window);
  const suspected = attempt > 1 || quarantined.length > 0;
  for (const piece of pieces) {
    const outcome = await ingestPiece(parts, piece, { quarantined, suspected }, signal);
    staged += outcome.staged;
    failed.push(...outcome.failed);
  }
  if (failed.some(({ error }) => isBelowFinality(error))) return { staged, failed: failed.length };

  const all = failed.length > window.lastBlock - window.firstBlock && window.firstBlock < window.lastBlock;
  const remedyFor = (one: Failed): Remedy => getRemedy(toFault(one), { attempt, all });
  const held = failed.filter((one) => remedyFor(one) === 'hold');
  let left = failed.filter((one) => remedyFor(one) !== 'hold');
  if (left.some((one) => remedyFor(one) === 'ask-alone') && (await answers(parts, signal))) {
    const alone = await askAlone(parts, left, quarantined, signal);
    staged += alone.staged;
    held.push(...alone.held);
    left = alone.left;
  }
  const elsewhere = left.length > 0 && left.every((one) => remedyFor(one) === 'ask-elsewhere');
  if (elsewhere && (await answersElsewhere(parts, window, signal))) {
    held.push(...left);
    left = [];
  }
  // What waits for a budget is no failed try.
  const first = left.find(({ error }) => isBudgetError(error)) ?? left[0];
  // A job that is tried again probes again.
  staged += await holdFailed(parts, held, { quarantined, probed: first === undefined ? probed : [] }, signal);
  if (first !== undefined) throw first.error;
  return { staged, failed: held.length };
}

/**
 * Asks for blocks one by one, to separate a block that makes every shared request fail (a trace that takes too long)
 * from its neighbours. `left`: the failures that are the node's after all.
 */
async function askAlone(
  parts: IngestParts,
  failed: readonly Failed[],
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<{ staged: number; held: Failed[]; left: Failed[] }> {
  const result = { staged: 0, held: [] as Failed[], left: [] as Failed[] };
  for (const one of failed) {
    if (toFault(one) !== 'either' || result.held.length === MAX_ALONE) {
      result.left.push(one);
      continue;
    }
    const piece = { firstBlock: one.number, lastBlock: one.number, kinds: one.kinds };
    const again =
      failed.length === 1
        ? { staged: 0, failed: [one] }
        : await ingestPiece(parts, piece, { quarantined, suspected: true }, signal);
    result.staged += again.staged;
    for (const still of again.failed) (toFault(still) === 'node' ? result.left : result.held).push(still);
  }
  return result;
}

/** Whether the nodes answer at all: if so, the block is the cause. */
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
 * Whether the nodes answer for a block far away: if so, the window is the cause, such as successive blocks that take
 * too long to trace. Without this check such windows would in the end fill the queue.
 */
async function answersElsewhere(
  parts: IngestParts,
  window: IngestWindow,
  signal: AbortSignal,
): Promise<boolean> {
  const finalized = (await parts.database.head.get())?.finalized ?? -1;
  if (finalized < 0 || (finalized >= window.firstBlock && finalized <= window.lastBlock)) return false;
  return (await tryFetch(parts, finalized, window.kinds, signal)) === null;
}

/**
 * The blocks of the window that are neither staged nor published, nor in quarantine until their next try. Of a row that
 * is probed, the first missing block is one; `probed`: such rows.
 */
async function missingWithin(
  { database }: IngestParts,
  { firstBlock, lastBlock, kinds }: IngestWindow,
): Promise<{ pieces: IngestWindow[]; quarantined: BlockRange[]; probed: QuarantineRow[] }> {
  const rows = await database.quarantine.within({ firstBlock, lastBlock });
  const missing = new Map<Kind, BlockRange[]>();
  const ordered = KINDS.filter((each) => kinds.includes(each));
  for (const [kind, { staged, published }] of await database.coverages(ordered, { firstBlock, lastBlock })) {
    missing.set(kind, subtractRanges([{ firstBlock, lastBlock }], unionRanges([...staged, ...published])));
  }
  const probed = withoutResting(missing, rows);
  return { pieces: missingPieces(missing), quarantined: unionRanges(rows.map(toRange)), probed };
}
