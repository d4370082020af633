/* ASCII, four bytes at a time: a loop over single bytes takes three times as long. */

const QUOTES = 0x2222_2222;
const BACKSLASHES = 0x5c5c_5c5c;
const ONES = 0x0101_0101;
const SPACES = 0x2020_2020;
const HIGH = 0x8080_8080 | 0;
/** The golden ratio in 32 bits: differences of any byte spread to all that follow. */
const SPREAD = 0x9e37_79b1 | 0;

/** A view of the same bytes. */
export function viewOf(text: Uint8Array): DataView {
  return new DataView(text.buffer, text.byteOffset, text.length);
}

/** Whether as many bytes are the same at both offsets. */
export function isSame(text: DataView, one: number, other: number, length: number): boolean {
  if (Math.max(one, other) + length > text.byteLength) return false;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    if (text.getInt32(one + at, true) !== text.getInt32(other + at, true)) return false;
  }
  for (; at < length; at += 1) if (text.getUint8(one + at) !== text.getUint8(other + at)) return false;
  return true;
}

/**
 * Offset of the next quote from `start` on; -1 if there is none, or anything but plain ASCII before it. Whether a byte is a
 * quote, a backslash or less than a space is asked of four at once (Bit Twiddling Hacks, "Determine if a word has a zero byte").
 */
export function findQuote(text: DataView, start: number): number {
  const last = text.byteLength - 4;
  let at = start;
  for (; at <= last; at += 4) {
    const word = text.getInt32(at, true);
    const quote = word ^ QUOTES;
    const backslash = word ^ BACKSLASHES;
    const found =
      ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash) | ((word - SPACES) & ~word) | word;
    if ((found & HIGH) !== 0) break;
  }
  for (; at < text.byteLength; at += 1) {
    const byte = text.getUint8(at);
    if (byte === 0x22) return at;
    if (byte === 0x5c || byte < 0x20 || byte >= 0x80) return -1;
  }
  return -1;
}

/** A hash of bytes. */
export function hashOf(text: DataView, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(((hash << 5) | (hash >>> 27)) ^ text.getInt32(at, true), SPREAD);
  }
  for (; at < end; at += 1) {
    hash = Math.imul(((hash << 5) | (hash >>> 27)) ^ text.getUint8(at), SPREAD);
  }
  return hash;
}
