import type { BlockRange, Kind } from '@packhouse/chain';
import type { QuarantineRow } from '@packhouse/database';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { IngestWindow } from '../job-names.js';
import { causeOf, isNotKept, isProbed } from './blame.js';
import { extractRuns } from './extract.js';
import { findUnkeptEnd, openEnd } from './find-unkept-end.js';
import { FORK_ALARM, raiseForkAlarm } from './fork-unknown.js';
import { type Failed, type IngestParts, ingestPiece } from './ingest-piece.js';
import { rangeOf, rowOf } from './probed-rows.js';
import { salvage } from './salvage.js';

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
    const salvaged = await salvage(parts, group, signal, (source, window) =>
      ingestPiece({ ...parts, source }, window, quarantined, signal),
    );
    staged += salvaged.staged;
    left.push(...salvaged.left);
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
  for (const group of groups(failed, sameCause)) {
    signal.throwIfAborted();
    const row = rowOf(probed, group, causeOf((group.failed[0] as Failed).error));
    for (const kind of group.kinds) if (row !== undefined) still.get(row)?.add(kind);
    if (isPackhouseError(group.failed[0]?.error, 'FORK_UNKNOWN')) await holdFork(parts, group, row, signal);
    else await hold(parts, row === undefined ? group : { ...group, ...rangeOf(row) }, signal);
  }
  for (const [row, kinds] of still) {
    const released = row.kinds.filter((kind) => !kinds.has(kind));
    if (released.length > 0) await parts.database.quarantine.settle(rangeOf(row), released);
    if (kinds.size === 0 && row.cause === FORK_ALARM) await parts.database.alarms.clear(FORK_ALARM, 'itself');
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
  const start = row?.number ?? first.number;
  const end = Math.max(row?.end ?? 0, await openEnd(parts, group));
  if (row === undefined && end > start && (await isProved(parts, { start: end, end, kinds }, signal))) {
    const error = (first.error.cause as Error | undefined) ?? first.error;
    await quarantine(parts, { start, end: start, kinds }, { ...first, error });
    return;
  }
  const held = await quarantine(parts, { start, end, kinds }, first);
  await raiseForkAlarm(parts, held, first.error as PackhouseError);
}

async function isProved(parts: IngestParts, block: IngestWindow, signal: AbortSignal): Promise<boolean> {
  return (await extractRuns(parts, block, signal)).runs.length > 0;
}

/** Quarantines one group as one row. */
async function hold(parts: IngestParts, group: Group, signal: AbortSignal): Promise<void> {
  const { start, end, kinds, failed } = group;
  const first = failed[0] as Failed;
  if (failed.length < RANGE_BLOCKS || !failed.every((one) => isNotKept(one.error))) {
    await quarantine(parts, { start, end, kinds }, first);
    return;
  }
  const last = await findUnkeptEnd(parts, group, signal);
  const error = new PackhouseError({
    code: 'BLOCKS_UNAVAILABLE',
    message: `No upstream of ${parts.network} keeps ${kinds.join(', ')} of blocks ${start} to ${last}: ${first.error.message}`,
    hint: 'Add a node that keeps them (an archive node); they are asked for again by themselves.',
    cause: first.error,
  });
  await quarantine(parts, { start, end: last, kinds }, { ...first, error });
}

async function quarantine(
  { context, database, network }: IngestParts,
  { start, end, kinds }: IngestWindow,
  { error, upstream, payloadDigest, tried }: Failed,
): Promise<QuarantineRow> {
  const cause = causeOf(error);
  const row = await database.quarantine.put({
    number: start,
    end,
    kinds,
    cause,
    message: error.message,
    upstream,
    payloadDigest,
    tried,
    probed: isProbed(cause),
  });
  context.logger.error(
    { network, block: start, end, kinds, cause, nextTry: row.nextTry, err: error },
    start === end ? 'block quarantined' : 'blocks quarantined',
  );
  context.metrics
    .counter('packhouse_quarantined_total', 'Blocks put into quarantine', ['network', 'cause'])
    .inc({ network, cause }, end - start + 1);
  return row;
}

/** Sorts failed blocks into groups that follow one another and are alike. */
function groups(failed: readonly Failed[], alike: (a: Failed, b: Failed) => boolean): Group[] {
  const found: Group[] = [];
  for (const one of [...failed].sort((a, b) => a.number - b.number)) {
    const last = found.at(-1);
    const before = last?.failed.at(-1);
    if (last !== undefined && before?.number === one.number - 1 && alike(before, one)) {
      last.end = one.number;
      last.failed.push(one);
    } else found.push({ start: one.number, end: one.number, kinds: one.kinds, failed: [one] });
  }
  return found;
}

function sameKinds(a: Failed, b: Failed): boolean {
  return (
    a.kinds.join() === b.kinds.join() &&
    a.unstaged === b.unstaged &&
    JSON.stringify(a.doubts) === JSON.stringify(b.doubts)
  );
}

function sameCause(a: Failed, b: Failed): boolean {
  if (!sameKinds(a, b)) return false;
  const [left, right] = [a.error, b.error];
  if (isNotKept(left) && isNotKept(right)) return true;
  if (!isPackhouseError(left) || !isPackhouseError(right)) return left.name === right.name;
  return left.code === right.code;
}
