/*
 * Bloom filters of logs (Yellow Paper, 4.3.1): three bits for each address and topic, from the first three pairs of bytes of
 * its hash. Bytes are in the order of a header's logsBloom.
 *
 * Most addresses and topics have been seen before, so the bits of many are kept, in MEMO. Each value has one place there, and
 * the last value of a place is kept: so chosen values may cost a hash each, but never a search.
 */
import { unhex } from '../shared/hex.js';
import { keccak } from '../shared/keccak.js';
import { MEMO } from './memory.js';

const BLOOM_BYTES: usize = 256;
export const BLOOM: usize = memory.data(256, 16);
/** The value that is looked for: 32 bytes, or 20 and zeros, so that it has one place. */
const VALUE = memory.data(32, 16);
const HASH = memory.data(32, 16);
/**
 * A place has 64 bytes, a line of most caches: the value; its three bits of 11 in 16 each and, in the highest 16, its count
 * of digits, 0 if the place is free. 32,768 of them are the 2 MiB of MEMO.
 */
const PLACE_BITS: u64 = 15;
/** Odd, with about as many bits set as not. */
const FIRST_FACTOR: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;
const SECOND_FACTOR: u64 = ((<u64>0xc2b2ae3d) << 32) | 0x27d4eb4f;

/** Begins a bloom of no logs. */
export function openBloom(): void {
  memory.fill(BLOOM, 0, BLOOM_BYTES);
}

/** Adds an address (40 digits) or a topic (64). */
export function addToBloom(at: usize, digits: usize): void {
  v128.store(VALUE, i64x2.splat(0), 16);
  unhex(at, digits, VALUE);
  const value = v128.load(VALUE);
  const more = v128.load(VALUE, 16);
  const place = getPlace();
  let bits = load<u64>(place, 32);
  const different = v128.or(v128.xor(value, v128.load(place)), v128.xor(more, v128.load(place, 16)));
  if (<usize>(bits >> 48) !== digits || v128.any_true(different)) {
    keccak(VALUE, digits >> 1, HASH);
    bits = ((<u64>digits) << 48) | ((<u64>bitAt(4)) << 32) | ((<u64>bitAt(2)) << 16) | bitAt(0);
    v128.store(place, value);
    v128.store(place, more, 16);
    store<u64>(place, bits, 32);
  }
  set(<u32>bits & 0x7ff);
  set(<u32>(bits >> 16) & 0x7ff);
  set(<u32>(bits >> 32) & 0x7ff);
}

/** Adds the bloom to one of 256 bytes. */
export function orBloom(into: usize): void {
  for (let at: usize = 0; at < BLOOM_BYTES; at += 16) {
    v128.store(into + at, v128.or(v128.load(into + at), v128.load(BLOOM + at)));
  }
}

/** The place of VALUE in MEMO. */
function getPlace(): usize {
  const halves = load<u64>(VALUE) ^ rotl<u64>(load<u64>(VALUE, 8), 17);
  const others = load<u64>(VALUE, 16) ^ rotl<u64>(load<u64>(VALUE, 24), 29);
  const mixed = halves * FIRST_FACTOR + others * SECOND_FACTOR;
  return MEMO + ((<usize>(mixed >> (64 - PLACE_BITS))) << 6);
}

function bitAt(pair: usize): u32 {
  return (((<u32>load<u8>(HASH + pair)) << 8) | load<u8>(HASH + pair, 1)) & 0x7ff;
}

function set(bit: u32): void {
  const at = BLOOM + BLOOM_BYTES - 1 - <usize>(bit >> 3);
  store<u8>(at, load<u8>(at) | <u8>((<u32>1) << (bit & 7)));
}
