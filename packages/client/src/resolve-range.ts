import type { BlockRange } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Bound } from './range.js';

/** The first block at or after a moment, in milliseconds since 1970. Throws RANGE_BEYOND_HEAD if there is none. */
export type BlockAt = (atMs: number) => Promise<number>;

/**
 * The blocks that two ends mean. Without an end it is the first or last published block. `+n` behind `to` is n blocks
 * from `from` on; `-n` behind `from` is the last n blocks up to `to`; `-n` behind `to` leaves out the newest n. A date
 * as `to` is the last block before it, so that two dates following each other share no block. Throws RANGE_INVALID and
 * what `blockAt` throws.
 */
export async function resolveRange(
  { from, to }: { from?: Bound | undefined; to?: Bound | undefined },
  published: BlockRange,
  blockAt: BlockAt,
): Promise<BlockRange> {
  if (from?.type === 'relative' && from.blocks > 0) {
    throw invalid('from takes a block, a date or -n, and +n is counted from nowhere', 'Write --to +1000.');
  }
  let end = published.end;
  if (to?.type === 'block') end = to.number;
  else if (to?.type === 'date') end = (await blockAt(to.atMs)) - 1;
  else if (to?.type === 'relative' && to.blocks <= 0) end = published.end + to.blocks;

  let start = published.start;
  if (from?.type === 'block') start = from.number;
  else if (from?.type === 'date') start = await blockAt(from.atMs);
  else if (from?.type === 'relative') {
    if (to?.type === 'relative' && to.blocks > 0) {
      throw invalid('from -n and to +n are counted from each other', 'Give one of them as a block.');
    }
    start = Math.max(0, end + from.blocks + 1);
  }
  if (to?.type === 'relative' && to.blocks > 0) end = start + to.blocks - 1;
  if (start <= end) return { start, end };
  if (to?.type === 'date' && end < published.start) {
    const before = `no block before ${new Date(to.atMs).toISOString()} is published`;
    throw invalid(before, `The published blocks are ${published.start} to ${published.end}.`);
  }
  throw invalid(
    `the range ${start} to ${end} has no block`,
    `The published blocks are ${published.start} to ${published.end}.`,
  );
}

function invalid(what: string, hint: string): PackhouseError {
  return new PackhouseError({
    code: 'RANGE_INVALID',
    message: `These blocks cannot be pulled: ${what}.`,
    hint,
  });
}
