import type { BlockRange } from '@packhouse/chain';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { IngestWindow } from '../job-names.js';
import { isNotKept } from './blame.js';
import { findUnkeptEnd } from './find-unkept-end.js';
import { type Failed, type IngestParts, ingestPiece } from './ingest-piece.js';
import { salvage } from './salvage.js';

/** This many blocks in a row that fail alike become one row: it is the range that fails, not each block. */
const RANGE_BLOCKS = 8;

/** Blocks in a row that fail for the same kinds. */
interface Group extends IngestWindow {
  failed: Failed[];
}

/**
 * Quarantines failed blocks after staging the kinds that can be fetched: if a block's traces fail, only the traces are
 * quarantined. Returns the number of blocks of which some kind was staged.
 */
export async function holdFailed(
  parts: IngestParts,
  failed: readonly Failed[],
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<number> {
  let staged = 0;
  for (const group of groups(failed, sameKinds)) {
    const salvaged = await salvage(parts, group, signal, (source, window) =>
      ingestPiece({ ...parts, source }, window, quarantined, signal),
    );
    staged += salvaged.staged;
    for (const left of groups(salvaged.left, sameCause)) {
      signal.throwIfAborted();
      await hold(parts, left, signal);
    }
  }
  return staged;
}

/** Quarantines one group: as one row if it is long, else block by block. */
async function hold(parts: IngestParts, group: Group, signal: AbortSignal): Promise<void> {
  const { start, end, kinds, failed } = group;
  const first = failed[0] as Failed;
  if (failed.length < RANGE_BLOCKS) {
    for (const one of failed) await quarantine(parts, { start: one.number, end: one.number, kinds }, one);
    return;
  }
  if (!failed.every((one) => isNotKept(one.error))) {
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
): Promise<void> {
  const cause = isPackhouseError(error) ? error.code : 'INTERNAL';
  const row = await database.quarantine.put({
    number: start,
    end,
    kinds,
    cause,
    message: error.message,
    upstream,
    payloadDigest,
    tried,
  });
  context.logger.error(
    { network, block: start, end, kinds, cause, nextTry: row.nextTry, err: error },
    start === end ? 'block quarantined' : 'blocks quarantined',
  );
  context.metrics
    .counter('packhouse_quarantined_total', 'Blocks put into quarantine', ['network', 'cause'])
    .inc({ network, cause }, end - start + 1);
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
