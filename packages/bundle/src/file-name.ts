import type { BlockRange } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

const FORM = /^(0|[1-9]\d{0,15})-(0|[1-9]\d{0,15})\.json\.gz$/;

function invalid(what: string): PackhouseError {
  return new PackhouseError({
    code: 'NAME_INVALID',
    message: `${what} is not the name of a bundle file, expected <start>-<end>.json.gz with block numbers in decimal.`,
    hint: 'Block numbers have no leading zeros, and the end is not before the start.',
  });
}

/** The name of the file that holds these blocks. Throws NAME_INVALID where the range is none. */
export function fileName({ start, end }: BlockRange): string {
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start)) {
    throw invalid(`The range ${start}-${end}`);
  }
  return `${start}-${end}.json.gz`;
}

/** The blocks that a file of this name holds. Throws NAME_INVALID for any name that `fileName` does not make. */
export function parseFileName(text: string): BlockRange {
  const [, first, second] = FORM.exec(text) ?? [];
  const start = Number(first);
  const end = Number(second);
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start <= end)) {
    throw invalid(JSON.stringify(text.slice(0, 100)));
  }
  return { start, end };
}
