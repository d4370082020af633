import { isKind, KINDS, type Kind } from '@packhouse/chain';
import { readBlockNumber } from '@packhouse/client';
import { PackhouseError } from '@packhouse/runtime';

/** The error of a command line that does not fit. */
export function usageError(message: string, hint?: string, cause?: unknown): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message, hint, cause });
}

/** A block number: `17000000`, `17_000_000`, `17M`, `17.5M`, `17e6`, `900k`. */
export function parseBlockNumber(text: string, option: string): number {
  const number = readBlockNumber(text);
  if (number !== null) return number;
  throw new PackhouseError({
    code: 'RANGE_INVALID',
    message: `${option} takes a block number, got "${text}".`,
    hint: `For example ${option} 17000000 or ${option} 17M.`,
  });
}

/** Refuses a range whose end is before its start. */
export function checkRange(start: number, end: number): void {
  if (start <= end) return;
  throw new PackhouseError({
    code: 'RANGE_INVALID',
    message: `The range ${start} to ${end} is reversed.`,
    hint: `Did you mean --from ${end} --to ${start}?`,
  });
}

/** Comma-separated kinds, or `all`. */
export function parseKinds(text: string): Kind[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'all') return [...KINDS];
  const unknown = names.filter((name) => !isKind(name));
  if (unknown.length === 0) return KINDS.filter((kind) => names.includes(kind));
  throw new PackhouseError({
    code: 'KIND_UNKNOWN',
    message: `There is no kind "${unknown[0]}".`,
    hint: `The kinds are ${KINDS.join(', ')}; separate several with commas, or give all.`,
  });
}

/** A whole number between bounds. */
export function parseInteger(text: string, option: string, min: number, max: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min && number <= max) return number;
  throw usageError(`${option} takes a whole number from ${min} to ${max}, got "${text}".`);
}

/** A count of at least one: `5000000`, `5_000_000`, `5M`, `2.5k`. */
export function parseCount(text: string, option: string): number {
  const [, digits = '', unit = ''] = /^(\d[\d_,]*(?:\.\d{1,6})?)([kKM]?)$/.exec(text) ?? [];
  const factor = { '': 1, k: 1e3, m: 1e6 }[unit.toLowerCase()] ?? Number.NaN;
  // 2.3 * 1e6 is not whole.
  const number = Math.round(Number(digits.replace(/[_,]/g, '')) * factor * 1e3) / 1e3;
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw usageError(
    `${option} takes a whole number of at least 1, got "${text}".`,
    `For example ${option} 5M or ${option} 5_000_000.`,
  );
}

/** The name of a network, in the form of the networks file. */
export function parseNetworkName(text: string): string {
  if (/^[a-z0-9-]{1,32}$/.test(text)) return text;
  throw usageError(
    `--network takes 1 to 32 lower-case letters, digits and dashes, got "${text}".`,
    'For example --network ethereum.',
  );
}
