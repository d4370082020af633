/** Inclusive byte positions within a file. */
export interface FileRange {
  start: number;
  end: number;
}

const SINGLE_RANGE = /^bytes[ \t]*=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * What a Range header asks of a file of `size` bytes (RFC 9110, 14.1.2): a part of it, `whole` where the header is
 * absent, malformed or names several ranges (which may be answered with the whole file), or `unsatisfiable`.
 */
export function byteRange(header: string | undefined, size: number): FileRange | 'whole' | 'unsatisfiable' {
  const match = header === undefined ? null : SINGLE_RANGE.exec(header);
  if (match === null) return 'whole';
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Number(suffix);
    return length === 0 || size === 0
      ? 'unsatisfiable'
      : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' || last === undefined ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && last !== undefined && Number(last) < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end };
}
