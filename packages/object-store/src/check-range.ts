import { PackhouseError } from '@packhouse/runtime';
import type { ByteRange } from './object-store.js';

/** Throws INTERNAL unless the range is one of an HTTP Range header: whole numbers, not reversed. */
export function checkRange(key: string, range: ByteRange | undefined): void {
  if (range === undefined) return;
  const { start, end } = range;
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return;
  throw new PackhouseError({
    code: 'INTERNAL',
    message: `Bytes ${start}-${end} of object ${key} cannot be read: expected whole numbers, the end not before the start.`,
  });
}

/** The error for a range that starts behind the object's end: the object is not the one that was written. */
export function rangeBeyondEnd(key: string, range: ByteRange, where: string): PackhouseError {
  return new PackhouseError({
    code: 'OBJECT_MISMATCH',
    message: `Bytes ${range.start}-${range.end} of object ${key} were asked of ${where}, but it ends before them.`,
    hint: 'The object was replaced or cut off after it was published; restore it from a copy.',
    data: { key, start: range.start, end: range.end },
  });
}
