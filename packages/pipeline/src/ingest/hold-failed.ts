import type { BlockRange, Kind } from '@packhouse/chain';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { isNotKept } from './blame.js';
import { dropTraces } from './drop-traces.js';
import { fetchWish } from './extract.js';
import { findUnkeptEnd } from './find-unkept-end.js';
import { type Failed, type IngestParts, ingestPiece } from './ingest-piece.js';

/** From this many blocks in a row that fail alike, they are one row: it is the range that fails, not each block. */
const RANGE_BLOCKS = 8;

/** Blocks in a row that fail for the same kinds. */
interface Group extends BlockRange {
  kinds: readonly Kind[];
  failed: Failed[];
}

/**
 * Puts blocks that cannot be had into quarantine, after what can be had of them was staged: a block without traces
 * keeps only its traces back. Gives the number of blocks of which something was staged.
 */
export async function holdFailed(
  parts: IngestParts,
  failed: readonly Failed[],
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<number> {
  let staged = 0;
  for (const group of groups(failed, sameKinds)) {
    const salvaged = await salvage(parts, group, quarantined, signal);
    staged += salvaged.staged;
    for (const left of groups(salvaged.left, sameFate)) {
      signal.throwIfAborted();
      await hold(parts, left, signal);
    }
  }
  return staged;
}

/** Stages the kinds that do not need what failed. `left` is what stays to be quarantined, in which kinds. */
async function salvage(
  parts: IngestParts,
  group: Group,
  quarantined: readonly BlockRange[],
  signal: AbortSignal,
): Promise<{ staged: number; left: Failed[] }> {
  const { start, end } = group;
  // What could not be staged failed for its neighbours, whatever the kinds.
  if (group.failed.some((one) => one.unstaged)) return { staged: 0, left: group.failed };
  for (const kinds of lesserKinds(group.kinds)) {
    if (start < end && !(await isFetchable(parts, start, kinds, signal))) continue;
    const again = await ingestPiece(parts, { range: { start, end }, kinds }, quarantined, signal);
    if (again.staged === 0) continue;
    const still = new Set(again.failed.map((one) => one.failure.number));
    const rest = group.kinds.filter((kind) => !kinds.includes(kind));
    const left = group.failed.map((one) => (still.has(one.failure.number) ? one : { ...one, kinds: rest }));
    return { staged: again.staged, left };
  }
  return { staged: 0, left: group.failed };
}

/** The kinds that are left when traces, receipts, or both cannot be had; the most first. */
function lesserKinds(kinds: readonly Kind[]): Kind[][] {
  const without = (...gone: Kind[]): Kind[] => kinds.filter((kind) => !gone.includes(kind));
  const choices = [without('traces'), without('receipts', 'logs'), without('receipts', 'logs', 'traces')];
  const seen = new Set([kinds.join(), '']);
  return choices.filter((choice) => {
    const key = choice.join();
    return !seen.has(key) && seen.add(key);
  });
}

/** Whether one block can be fetched in these kinds, so that a whole range is not asked for in vain. */
async function isFetchable(
  { source }: IngestParts,
  number: number,
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    dropTraces(await source.fetchBlock(number, fetchWish(kinds), { signal }));
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** One group into the quarantine: as one row where it is long, else block by block. */
async function hold(parts: IngestParts, group: Group, signal: AbortSignal): Promise<void> {
  const { network } = parts;
  const { start, kinds } = group;
  const first = group.failed[0] as Failed;
  if (group.failed.length < RANGE_BLOCKS) {
    for (const one of group.failed) {
      await put(
        parts,
        { start: one.failure.number, end: one.failure.number, kinds, first: one },
        one.failure.error,
      );
    }
    return;
  }
  if (!group.failed.every((one) => isNotKept(one.failure.error))) {
    await put(parts, { start, end: group.end, kinds, first }, first.failure.error);
    return;
  }
  const end = await findUnkeptEnd(parts, group, signal);
  const error = new PackhouseError({
    code: 'BLOCKS_UNAVAILABLE',
    message: `No upstream of ${network} keeps ${kinds.join(', ')} of blocks ${start} to ${end}: ${first.failure.error.message}`,
    hint: 'Add a node that keeps them (an archive node); they are asked for again by themselves.',
    cause: first.failure.error,
  });
  await put(parts, { start, end, kinds, first }, error);
}

async function put(
  { context, database, network }: IngestParts,
  held: BlockRange & { kinds: readonly Kind[]; first: Failed },
  error: Error,
): Promise<void> {
  const { start, end, kinds } = held;
  const { upstream, payloadDigest, tried } = held.first.failure;
  const cause = isPackhouseError(error) ? error.code : 'INTERNAL';
  const row = await database.quarantine.put({
    network,
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

/** Cuts failed blocks, in order, into groups of blocks that follow one another and are alike. */
function groups(failed: readonly Failed[], alike: (a: Failed, b: Failed) => boolean): Group[] {
  const sorted = [...failed].sort((a, b) => a.failure.number - b.failure.number);
  const found: Group[] = [];
  for (const one of sorted) {
    const { number } = one.failure;
    const last = found.at(-1);
    const before = last?.failed.at(-1);
    if (last !== undefined && before !== undefined && last.end + 1 === number && alike(before, one)) {
      last.end = number;
      last.failed.push(one);
    } else found.push({ start: number, end: number, kinds: one.kinds, failed: [one] });
  }
  return found;
}

function sameKinds(a: Failed, b: Failed): boolean {
  return a.kinds.join() === b.kinds.join() && a.unstaged === b.unstaged;
}

function sameFate(a: Failed, b: Failed): boolean {
  if (!sameKinds(a, b)) return false;
  const [left, right] = [a.failure.error, b.failure.error];
  if (isNotKept(left) && isNotKept(right)) return true;
  if (!isPackhouseError(left) || !isPackhouseError(right)) return left.name === right.name;
  return left.code === right.code;
}
