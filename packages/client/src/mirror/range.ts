import type { BlockRange } from '@packhouse/chain';
import { PackhouseError, parseDate } from '@packhouse/runtime';

/** One end of a range as it is written; `parseBound` reads it. */
export type Bound =
  | { type: 'block'; number: number }
  /** Blocks counted from the other end of the range, or from the newest complete block. */
  | { type: 'relative'; blocks: number }
  /** The first block at or after this moment, or the last one before it. Milliseconds since 1970, UTC. */
  | { type: 'date'; atMs: number };

/** Decimal places of units. */
const UNITS: Readonly<Record<string, number>> = { '': 0, k: 3, m: 6 };
const NUMBER = /^([+-]?)(\d{1,3}(?:[_,]\d{3})+|\d+)(\.\d+)?(?:([km])|e\+?(\d{1,2}))?$/i;

/** Whether this text is meant as a block or a date, and not as a word. */
export function looksLikeBound(text: string): boolean {
  return /^[+-]?\d/.test(text);
}

/**
 * Reads `17000000`, `17_000_000`, `17M`, `17.5M`, `17e6`, `+1000`, `-1000`, `2024-05-01` or `2024-05-01T12:00Z`. A date
 * without a time is midnight UTC. `option` names the source in messages. Throws RANGE_INVALID.
 */
export function parseBound(text: string, option: string): Bound {
  const [, sign] = NUMBER.exec(text) ?? [];
  if (sign !== undefined) {
    const number = readNumber(text);
    if (number === null) throw invalid(text, option);
    if (sign === '') return { type: 'block', number };
    return { type: 'relative', blocks: sign === '-' ? -number : number };
  }
  const date = parseDate(text);
  if (date === null) throw invalid(text, option);
  return { type: 'date', atMs: date.getTime() };
}

/** The block of a text such as `17000000`, `17_000_000`, `17.5M` or `17e6`; null if it is none. */
export function readBlockNumber(text: string): number | null {
  return /^\d/.test(text) ? readNumber(text) : null;
}

function readNumber(text: string): number | null {
  const [, , digits, fraction = '', unit = '', exponent] = NUMBER.exec(text) ?? [];
  const zeros = exponent === undefined ? (UNITS[unit.toLowerCase()] as number) : Number(exponent);
  return digits === undefined ? null : scaled(`${digits.replace(/[_,]/g, '')}${fraction}`, zeros);
}

/** A decimal number times a power of ten as a whole number; null if it is none, or not exact. */
function scaled(decimal: string, zeros: number): number | null {
  const [whole = '', fraction = ''] = decimal.split('.');
  if (fraction.length > zeros) return null;
  const number = Number(`${whole}${fraction.padEnd(zeros, '0')}`);
  return Number.isSafeInteger(number) ? number : null;
}

function invalid(text: string, option: string): PackhouseError {
  return new PackhouseError({
    code: 'RANGE_INVALID',
    message: `${option} takes a block or a date, got "${text.slice(0, 60)}".`,
    hint: 'For example 17000000, 17M, +1000, -1000, 2024-05-01 or 2024-05-01T12:00Z.',
  });
}

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
    throw unresolvable(
      'from takes a block, a date or -n, and +n is counted from nowhere',
      'Write --to +1000.',
    );
  }
  let lastBlock = published.lastBlock;
  if (to?.type === 'block') lastBlock = to.number;
  else if (to?.type === 'date') lastBlock = (await blockAt(to.atMs)) - 1;
  else if (to?.type === 'relative' && to.blocks <= 0) lastBlock = published.lastBlock + to.blocks;

  let firstBlock = published.firstBlock;
  if (from?.type === 'block') firstBlock = from.number;
  else if (from?.type === 'date') firstBlock = await blockAt(from.atMs);
  else if (from?.type === 'relative') {
    if (to?.type === 'relative' && to.blocks > 0) {
      throw unresolvable('from -n and to +n are counted from each other', 'Give one of them as a block.');
    }
    firstBlock = Math.max(0, lastBlock + from.blocks + 1);
  }
  if (to?.type === 'relative' && to.blocks > 0) lastBlock = firstBlock + to.blocks - 1;
  if (firstBlock <= lastBlock) return { firstBlock, lastBlock };
  if (to?.type === 'date' && lastBlock < published.firstBlock) {
    const before = `no block before ${new Date(to.atMs).toISOString()} is published`;
    throw unresolvable(before, `The published blocks are ${published.firstBlock} to ${published.lastBlock}.`);
  }
  const isReversed = from?.type === 'block' && to?.type === 'block';
  throw unresolvable(
    `the range ${firstBlock} to ${lastBlock} ${isReversed ? 'is reversed' : 'has no block'}`,
    `${isReversed ? 'Swap the two. ' : ''}The published blocks are ${published.firstBlock} to ${published.lastBlock}.`,
  );
}

function unresolvable(what: string, hint: string): PackhouseError {
  return new PackhouseError({
    code: 'RANGE_INVALID',
    message: `These blocks cannot be pulled: ${what}.`,
    hint,
  });
}
