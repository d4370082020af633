import { crc32 } from 'node:zlib';
import { checkRun, type FragmentInfo } from './fragment.js';

/*
 * A bundle, one gzip member (RFC 1952) around stored blocks (RFC 1951, 3.2.4) and fragments:
 *
 *   0        10            16                                              n-14     n-8       n
 *   | header | stored `[`  | body 0 | stored `,` | body 1 | … | body k     | final  | trailer |
 *                                                                            stored `]`
 */

/** A stored block of one character: type and final bit, LEN 1, its complement, the character. */
function stored(character: string, final: boolean): Buffer {
  return Buffer.from([final ? 1 : 0, 0x01, 0x00, 0xfe, 0xff, character.charCodeAt(0)]);
}

/** Deflate, no flags, mtime 0, no extra flags, OS 255 (unknown): constant, so that bytes depend on data only. */
const HEADER = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff]);

/** The bytes before the first body of every bundle. */
export const MEMBER_HEAD = Buffer.concat([HEADER, stored('[', false)]);

/** The bytes between two bodies. */
export const SEPARATOR = stored(',', false);

const CLOSE = stored(']', true);

/** Bytes before the first body. */
export const MEMBER_HEAD_BYTES = MEMBER_HEAD.length;

/** Bytes between two bodies. */
export const SEPARATOR_BYTES = SEPARATOR.length;

/** Length of the part after the last body: the final stored block, the CRC-32 and the length. */
export const MEMBER_TAIL_BYTES = CLOSE.length + 8;

/** Bytes of the gzip file of these fragments. */
export function memberSize(fragments: readonly FragmentInfo[]): number {
  let bodies = 0;
  for (const fragment of fragments) bodies += fragment.byteLength;
  return MEMBER_HEAD_BYTES + bodies + SEPARATOR_BYTES * Math.max(0, fragments.length - 1) + MEMBER_TAIL_BYTES;
}

/** A gzip member without its bodies. */
interface MemberFrame {
  /** The bytes before the bodies. */
  head: Buffer;
  /** The bytes after the bodies. */
  tail: Buffer;
  /** Bytes of the whole file. */
  byteLength: number;
  /** Bytes of its text, brackets included. */
  rawLength: number;
  /** CRC-32 of its text, unsigned. */
  crc32: number;
}

/**
 * The bytes before and after the bodies of a run of fragments (with SEPARATOR between them) that make them a file, so
 * that a part of a published bundle can be streamed without holding it.
 *
 * Throws BUNDLE_INVALID when the fragments do not follow each other.
 */
export function memberFrame(fragments: readonly FragmentInfo[]): MemberFrame {
  checkRun(fragments);
  let crc = crc32('[');
  let rawLength = 1;
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) {
      crc = crc32(',', crc);
      rawLength += 1;
    }
    crc = crc32Combine(crc, fragment.crc32, fragment.rawLength);
    rawLength += fragment.rawLength;
  }
  crc = crc32(']', crc);
  rawLength += 1;
  const tail = Buffer.alloc(MEMBER_TAIL_BYTES);
  CLOSE.copy(tail);
  tail.writeUInt32LE(crc, CLOSE.length);
  tail.writeUInt32LE(rawLength % 2 ** 32, CLOSE.length + 4);
  return { head: MEMBER_HEAD, tail, byteLength: memberSize(fragments), rawLength, crc32: crc };
}

/** The polynomial of CRC-32, reflected: bit 31 is the coefficient of x^0. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

/** `a * b` modulo the polynomial, over GF(2). */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product;
}

/** `x^(8 * 2^k)` for every bit of a safe integer: the effect of 2^k further bytes on a CRC. */
const BYTE_POWERS: readonly number[] = (() => {
  const powers = [ONE >>> 8];
  for (let k = 1; k < 53; k++) powers.push(multiply(powers[k - 1] as number, powers[k - 1] as number));
  return powers;
})();

/**
 * The CRC-32 of two joined texts from the CRC of each and the length of the second, in bytes (zlib's method:
 * the first CRC times x^(8 * length) modulo the polynomial, plus the second).
 *
 * The length may be any safe integer, even beyond 2^32. The result is unsigned.
 */
export function crc32Combine(crcA: number, crcB: number, lengthB: number): number {
  let shifted = crcA;
  for (let k = 0, rest = lengthB; rest > 0; k++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shifted = multiply(BYTE_POWERS[k] as number, shifted);
  }
  return (shifted ^ crcB) >>> 0;
}
