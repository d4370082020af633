/* SHA-256 (FIPS 180-4) of messages of one block, four at a time. */
import { DIGEST_BYTES } from '../../src/layout.js';

const ROUND_CONSTANTS = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
/** The words of four messages, a vector each. */
const WORDS = memory.data(64 * 16, 16);

function rotate(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shr_u(x, bits), i32x4.shl(x, 32 - bits));
}

function wordsAt(index: usize): v128 {
  return v128.load(WORDS + (index << 4));
}

/** Four words of a block, which are big-endian. */
function bigEndian(at: usize): v128 {
  const bytes = v128.load(at);
  return i8x16.shuffle(bytes, bytes, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

/**
 * Hashes four padded blocks of 64 bytes that follow one another, and writes the first 10 bytes of each hash to `out`, one
 * behind the other; `out` may be where the blocks are.
 */
export function hashFour(blocks: usize, out: usize): void {
  spreadWords(blocks);
  let a = i32x4.splat(0x6a09e667);
  let b = i32x4.splat(0xbb67ae85);
  let c = i32x4.splat(0x3c6ef372);
  let d = i32x4.splat(0xa54ff53a);
  let e = i32x4.splat(0x510e527f);
  let f = i32x4.splat(0x9b05688c);
  let g = i32x4.splat(0x1f83d9ab);
  let h = i32x4.splat(0x5be0cd19);
  for (let round: usize = 0; round < 64; round++) {
    const high = v128.xor(v128.xor(rotate(e, 6), rotate(e, 11)), rotate(e, 25));
    const choice = v128.bitselect(f, g, e);
    const word = i32x4.add(wordsAt(round), i32x4.splat(load<u32>(ROUND_CONSTANTS + (round << 2))));
    const one = i32x4.add(i32x4.add(h, high), i32x4.add(choice, word));
    const low = v128.xor(v128.xor(rotate(a, 2), rotate(a, 13)), rotate(a, 22));
    const majority = v128.bitselect(c, a, v128.xor(a, b));
    h = g;
    g = f;
    f = e;
    e = i32x4.add(d, one);
    d = c;
    c = b;
    b = a;
    a = i32x4.add(one, i32x4.add(low, majority));
  }
  // The other words of the hashes are not needed.
  v128.store(WORDS, i32x4.add(a, i32x4.splat(0x6a09e667)));
  v128.store(WORDS + 16, i32x4.add(b, i32x4.splat(0xbb67ae85)));
  v128.store(WORDS + 32, i32x4.add(c, i32x4.splat(0x3c6ef372)));
  for (let nth: usize = 0; nth < 4; nth++) {
    const word = WORDS + (nth << 2);
    const to = out + nth * DIGEST_BYTES;
    store<u32>(to, bswap<u32>(load<u32>(word)));
    store<u32>(to + 4, bswap<u32>(load<u32>(word + 16)));
    store<u16>(to + 8, bswap<u16>(<u16>(load<u32>(word + 32) >> 16)));
  }
}

/** Spreads four blocks into vectors, and the 16 words of each to 64. */
function spreadWords(blocks: usize): void {
  for (let at: usize = 0; at < 64; at += 16) {
    const first = bigEndian(blocks + at);
    const second = bigEndian(blocks + 64 + at);
    const third = bigEndian(blocks + 128 + at);
    const fourth = bigEndian(blocks + 192 + at);
    const to = WORDS + (at << 2);
    const lower = v128.shuffle<i32>(first, second, 0, 4, 1, 5);
    const lowerOthers = v128.shuffle<i32>(third, fourth, 0, 4, 1, 5);
    const upper = v128.shuffle<i32>(first, second, 2, 6, 3, 7);
    const upperOthers = v128.shuffle<i32>(third, fourth, 2, 6, 3, 7);
    v128.store(to, v128.shuffle<i32>(lower, lowerOthers, 0, 1, 4, 5));
    v128.store(to + 16, v128.shuffle<i32>(lower, lowerOthers, 2, 3, 6, 7));
    v128.store(to + 32, v128.shuffle<i32>(upper, upperOthers, 0, 1, 4, 5));
    v128.store(to + 48, v128.shuffle<i32>(upper, upperOthers, 2, 3, 6, 7));
  }
  for (let nth: usize = 16; nth < 64; nth++) {
    const before = wordsAt(nth - 15);
    const last = wordsAt(nth - 2);
    const small = v128.xor(v128.xor(rotate(before, 7), rotate(before, 18)), i32x4.shr_u(before, 3));
    const large = v128.xor(v128.xor(rotate(last, 17), rotate(last, 19)), i32x4.shr_u(last, 10));
    const sum = i32x4.add(i32x4.add(wordsAt(nth - 16), small), i32x4.add(wordsAt(nth - 7), large));
    v128.store(WORDS + (nth << 4), sum);
  }
}
