import type { BlockRange, Kind } from '@packhouse/chain';
import type { QuarantineRow } from '@packhouse/database';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { IngestWindow } from '../job-names.js';
import { getCause, isNotKept, isProbed } from './blame.js';
import { extractRuns, tryFetch } from './extract.js';
import { FORK_ALARM, raiseForkAlarm } from './fork-unknown.js';
import { type Failed, type IngestParts, ingestPiece } from './ingest-piece.js';
import { toRange, toRow } from './probed-rows.js';
import { stageOtherKinds } from './stage-other-kinds.js';

/** If this many blocks in a row are not kept, the end of the range that is not is searched. */
const RANGE_BLOCKS = 8;

/** Blocks in a row that fail for the same kinds. */
interface Group extends IngestWindow {
  failed: Failed[];
}

/**
 * Quarantines failed blocks after staging the kinds that can be fetched: if a block's traces fail, only the traces are
 * quarantined. `probed`: see `holdBlocks`. Returns the number of blocks of which some kind was staged.
 */
export async function holdFailed(
  parts: IngestParts,
  failed: readonly Failed[],
  { quarantined, probed }: { quarantined: readonly BlockRange[]; probed: readonly QuarantineRow[] },
  signal: AbortSignal,
): Promise<number> {
  let staged = 0;
  const left: Failed[] = [];
  for (const group of groups(failed, sameKinds)) {
    const others = await stageOtherKinds(parts, group, signal, (source, window) =>
      ingestPiece({ ...parts, source }, window, { quarantined, suspected: true }, signal),
    );
    staged += others.staged;
    left.push(...others.left);
  }
  await holdBlocks(parts, left, probed, signal);
  return staged;
}

/**
 * Quarantines blocks, those in a row that failed alike as one row. `probed`: rows of which one block was tried; if it
 * failed by the row's cause again, the whole row waits, and otherwise the row is released.
 */
export async function holdBlocks(
  parts: IngestParts,
  failed: readonly Failed[],
  probed: readonly QuarantineRow[],
  signal: AbortSignal,
): Promise<void> {
  const still = new Map<QuarantineRow, Set<Kind>>(probed.map((row) => [row, new Set()]));
  const held = groups(failed, sameCause).map((group) => {
    const row = toRow(probed, group, getCause((group.failed[0] as Failed).error));
    for (const kind of group.kinds) if (row !== undefined) still.get(row)?.add(kind);
    return { group, row };
  });
  // Before the new rows: a block of a released row may have failed by another cause, which stays.
  for (const [row, kinds] of still) {
    const released = row.kinds.filter((kind) => !kinds.has(kind));
    if (released.length > 0) await parts.database.quarantine.settle(toRange(row), released);
    if (kinds.size === 0 && row.cause === FORK_ALARM) await parts.database.alarms.clear(FORK_ALARM, 'itself');
  }
  for (const { group, row } of held) {
    signal.throwIfAborted();
    if (isPackhouseError(group.failed[0]?.error, 'FORK_UNKNOWN')) await holdFork(parts, group, row, signal);
    else await hold(parts, row === undefined ? group : { ...group, ...toRange(row) }, signal);
  }
}

/**
 * Quarantines all blocks from the first of an unknown fork on (`row`: known before). If the last of them is proved, it
 * is no fork but a single block, which failed its proof; the others are tried again.
 */
async function holdFork(
  parts: IngestParts,
  group: Group,
  row: QuarantineRow | undefined,
  signal: AbortSignal,
): Promise<void> {
  const first = group.failed[0] as Failed;
  const { kinds } = group;
  const firstBlock = row?.firstBlock ?? first.number;
  const lastBlock = Math.max(row?.lastBlock ?? 0, await openEnd(parts, group));
  if (row === undefined && lastBlock > firstBlock) {
    const last = await extractRuns(parts, { firstBlock: lastBlock, lastBlock, kinds }, signal, true);
    if (last.runs.length > 0) {
      const error = (first.error.cause as Error | undefined) ?? first.error;
      await quarantine(parts, { firstBlock, lastBlock: firstBlock, kinds }, { ...first, error });
      return;
    }
  }
  const held = await quarantine(parts, { firstBlock, lastBlock, kinds }, first);
  await raiseForkAlarm(parts, held, first.error as PackhouseError);
}

/** Quarantines one group as one row. */
async function hold(parts: IngestParts, group: Group, signal: AbortSignal): Promise<void> {
  const { firstBlock, kinds, failed } = group;
  const first = failed[0] as Failed;
  if (failed.length < RANGE_BLOCKS || !failed.every((one) => isNotKept(one.error))) {
    await quarantine(parts, group, first);
    return;
  }
  const last = await findUnkeptEnd(parts, group, signal);
  const error = new PackhouseError({
    code: 'BLOCKS_UNAVAILABLE',
    message: `No upstream of ${parts.network} keeps ${kinds.join(', ')} of blocks ${firstBlock} to ${last}: ${first.error.message}`,
    hint: 'Add a node that keeps them (an archive node); they are asked for again by themselves.',
    cause: first.error,
  });
  await quarantine(parts, { firstBlock, lastBlock: last, kinds }, { ...first, error });
}

/**
 * Finds the last block that no upstream keeps, from a window on of which no block is kept.
 *
 * A pruned node lacks millions of blocks in a row, and asking for each of them would take days. So a few are asked for,
 * each twice as far away, then the border is searched between the last that is not kept and the first that is. Blocks
 * in between that a node does keep are fetched only at the next try. Only blocks that are requested, final and neither
 * staged nor published are held.
 */
async function findUnkeptEnd(parts: IngestParts, window: IngestWindow, signal: AbortSignal): Promise<number> {
  const isUnkept = async (number: number): Promise<boolean> => {
    const error = await tryFetch(parts, number, window.kinds, signal);
    return error !== null && isNotKept(error);
  };
  const limit = await openEnd(parts, window);
  let missing = window.lastBlock;
  let kept: number | null = null;
  for (let step = window.lastBlock - window.firstBlock + 1; kept === null && missing < limit; step *= 2) {
    const number = Math.min(limit, missing + step);
    if (await isUnkept(number)) missing = number;
    else kept = number;
  }
  while (kept !== null && kept - missing > 1) {
    const middle: number = missing + Math.floor((kept - missing) / 2);
    if (await isUnkept(middle)) missing = middle;
    else kept = middle;
  }
  return missing;
}

/** The last block after the window up to which everything is requested and final, and missing in all of the kinds. */
async function openEnd({ database }: IngestParts, { lastBlock, kinds }: IngestWindow): Promise<number> {
  const { active } = await database.backfills.runs();
  let limit = (await database.head.get())?.finalized ?? lastBlock;
  for (const kind of kinds) {
    const around = active.get(kind)?.find((run) => run.firstBlock <= lastBlock && run.lastBlock >= lastBlock);
    limit = Math.min(limit, around?.lastBlock ?? lastBlock);
    if (limit <= lastBlock) return lastBlock;
    const after = { firstBlock: lastBlock + 1, lastBlock: limit };
    const { staged, published } = await database.coverage(kind, after);
    for (const there of [staged[0], published[0]]) {
      if (there !== undefined) limit = Math.min(limit, there.firstBlock - 1);
    }
  }
  return Math.max(lastBlock, limit);
}

async function quarantine(
  { context, database, network }: IngestParts,
  { firstBlock, lastBlock, kinds }: IngestWindow,
  { error, upstream, payloadDigest, tried }: Failed,
): Promise<QuarantineRow> {
  const cause = getCause(error);
  const row = await database.quarantine.put({
    firstBlock,
    lastBlock,
    kinds,
    cause,
    message: error.message,
    upstream,
    payloadDigest,
    tried,
    probed: isProbed(cause),
  });
  context.logger.error(
    { network, block: firstBlock, end: lastBlock, kinds, cause, nextTry: row.nextTry, err: error },
    firstBlock === lastBlock ? 'block quarantined' : 'blocks quarantined',
  );
  context.metrics.count(
    'packhouse_quarantined_total',
    'Blocks put into quarantine',
    { network, cause },
    lastBlock - firstBlock + 1,
  );
  return row;
}

/** Sorts failed blocks into groups that follow one another and are alike. */
function groups(failed: readonly Failed[], alike: (a: Failed, b: Failed) => boolean): Group[] {
  const found: Group[] = [];
  for (const one of [...failed].sort((a, b) => a.number - b.number)) {
    const last = found.at(-1);
    const before = last?.failed.at(-1);
    if (last !== undefined && before?.number === one.number - 1 && alike(before, one)) {
      last.lastBlock = one.number;
      last.failed.push(one);
    } else found.push({ firstBlock: one.number, lastBlock: one.number, kinds: one.kinds, failed: [one] });
  }
  return found;
}

function sameKinds(a: Failed, b: Failed): boolean {
  return (
    a.kinds.join() === b.kinds.join() &&
    a.unstaged === b.unstaged &&
    JSON.stringify(a.suspects) === JSON.stringify(b.suspects)
  );
}

function sameCause(a: Failed, b: Failed): boolean {
  if (!sameKinds(a, b)) return false;
  const [left, right] = [a.error, b.error];
  if (isNotKept(left) && isNotKept(right)) return true;
  if (!isPackhouseError(left) || !isPackhouseError(right)) return left.name === right.name;
  return left.code === right.code;
}
