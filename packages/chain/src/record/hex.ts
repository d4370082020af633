/** Value of a lower-case hex digit by its character code, 255 for every other character. */
const NIBBLES = new Uint8Array(128).fill(255);
for (let digit = 0; digit < 16; digit++) NIBBLES['0123456789abcdef'.charCodeAt(digit)] = digit;

/** Strings up to this length are checked and decoded by a loop, which is faster than the native call for them. */
export const SHORT_HEX = 66;

/** Value of a lower-case hex digit's character code; 255 for anything else. */
export function nibble(charCode: number): number {
  return charCode < 128 ? NIBBLES[charCode]! : 255;
}

/** Whether all of `text` after `0x` is lower-case hex digits; for short texts. */
export function isLowerHex(text: string): boolean {
  let seen = 0;
  for (let at = 2; at < text.length; at++) {
    const code = text.charCodeAt(at);
    seen |= code < 128 ? NIBBLES[code]! : 255;
  }
  return seen < 16 && text.charCodeAt(0) === 0x30 && text.charCodeAt(1) === 0x78;
}

/** Canonical quantities up to this length (`0x` and 13 digits, 52 bits) and their sums are exact as floats. */
export const EXACT_LENGTH = 15;

/** The number in a canonical QUANTITY of up to EXACT_LENGTH characters; a third of the time of Number(). */
export function exactNumber(quantity: string): number {
  let value = 0;
  for (let at = 2; at < quantity.length; at++) value = value * 16 + NIBBLES[quantity.charCodeAt(at)]!;
  return value;
}

/** A growing buffer, kept between blocks so that checking hex allocates nothing. */
export class Scratch {
  private buffer: Buffer = Buffer.allocUnsafe(4_096);

  /** The buffer, with room for at least `bytes`. */
  atLeast(bytes: number): Buffer {
    if (this.buffer.length < bytes) this.buffer = Buffer.allocUnsafe(bytes * 2);
    return this.buffer;
  }
}

/**
 * Whether `text` is `0x` and an even number of lower-case hex digits.
 *
 * Long texts are decoded and encoded again by Node, in half the time of a loop. Encoding is needed because the decoder
 * accepts capitals, and reads a letter beyond U+00FF as that of its low byte.
 */
export function isCanonicalData(text: string, scratch: Scratch): boolean {
  if ((text.length & 1) === 1) return false;
  if (text.length <= SHORT_HEX) return text.length >= 2 && isLowerHex(text);
  if (text.charCodeAt(0) !== 0x30 || text.charCodeAt(1) !== 0x78) return false;
  const bytes = (text.length - 2) / 2;
  const digits = text.slice(2);
  const buffer = scratch.atLeast(bytes);
  return buffer.write(digits, 0, bytes, 'hex') === bytes && buffer.toString('hex', 0, bytes) === digits;
}

/** Whether `text` is a QUANTITY as the protocol writes it: lower case, no leading zero, at most 256 bits. */
export function isCanonicalQuantity(text: string): boolean {
  const length = text.length;
  if (length < 3 || length > 66 || (length > 3 && text.charCodeAt(2) === 0x30)) return false;
  return isLowerHex(text);
}

const MIXED_QUANTITY = /^0x[0-9a-fA-F]+$/;

/** A QUANTITY of any length as the protocol writes it: without capitals and leading zeros; undefined if it is none. */
export function normalQuantity(text: string): string | undefined {
  if (!MIXED_QUANTITY.test(text)) return undefined;
  return `0x${text
    .slice(2)
    .replace(/^0+(?=.)/, '')
    .toLowerCase()}`;
}

/** A number as a canonical QUANTITY. */
export function toQuantity(number: number | bigint): string {
  return `0x${number.toString(16)}`;
}
