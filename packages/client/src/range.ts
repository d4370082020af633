import { PackhouseError } from '@packhouse/runtime';

/** One end of a range as it is written; `parseBound` reads it. */
export type Bound =
  | { type: 'block'; number: number }
  /** Blocks counted from the other end of the range, or from the newest complete block. */
  | { type: 'relative'; blocks: number }
  /** The first block at or after this moment, or the last one before it. Milliseconds since 1970, UTC. */
  | { type: 'date'; atMs: number };

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };
const NUMBER = /^([+-]?)(\d{1,3}(?:[_,]\d{3})+|\d+)(\.\d+)?([km]?)$/i;
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/;

/** Whether this text is meant as a block or a date, and not as a word. */
export function looksLikeBound(text: string): boolean {
  return /^[+-]?\d/.test(text);
}

/**
 * Reads `17000000`, `17_000_000`, `17M`, `17.5M`, `+1000`, `-1000`, `2024-05-01` or `2024-05-01T12:00Z`. A date
 * without a time is midnight UTC. `option` names the source in messages. Throws RANGE_INVALID.
 */
export function parseBound(text: string, option: string): Bound {
  const [, sign, digits = '', fraction = '', unit = ''] = NUMBER.exec(text) ?? [];
  if (sign !== undefined) {
    const factor = UNITS[unit.toLowerCase()] as number;
    const number = scaled(`${digits.replace(/[_,]/g, '')}${fraction}`, factor);
    if (number === null) throw invalid(text, option);
    if (sign === '') return { type: 'block', number };
    return { type: 'relative', blocks: sign === '-' ? -number : number };
  }
  const atMs = DATE.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 31 February for 2 March.
  if (Number.isNaN(atMs) || !new Date(atMs).toISOString().startsWith(text.slice(0, 10))) {
    throw invalid(text, option);
  }
  return { type: 'date', atMs };
}

/** A decimal number times a power of ten as a whole number; null if it is none, or not exact. */
function scaled(decimal: string, factor: number): number | null {
  const [whole = '', fraction = ''] = decimal.split('.');
  const zeros = String(factor).length - 1;
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
