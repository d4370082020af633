/*
 * Memory of files that were written, for those that come next: a new megabyte for each bundle is memory outside of the
 * heap, and V8 collects the whole heap each time that some of it have come together.
 */

/** A larger one is not kept. */
const LARGEST_BYTES = 4_194_304;
/** As many as are published at a time (see pack.ts), so that 12 MB are kept at most. */
const MOST = 3;
/** Lengths are multiples of this, so that one fits many files. */
const STEP_BYTES = 262_144;

const spare: ArrayBuffer[] = [];

/** A buffer of so many bytes, which hold anything. */
export function takeBytes(length: number): Buffer {
  const at = spare.findIndex((one) => one.byteLength >= length);
  const [found] = at === -1 ? [] : spare.splice(at, 1);
  return Buffer.from(found ?? new ArrayBuffer(Math.ceil(length / STEP_BYTES) * STEP_BYTES), 0, length);
}

/** Gives back a buffer of `takeBytes` that nobody looks at any more. */
export function giveBack({ buffer }: Buffer): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength > LARGEST_BYTES) return;
  spare.push(buffer);
  // The smallest fits the fewest files.
  if (spare.length > MOST) spare.sort((a, b) => b.byteLength - a.byteLength).pop();
}
