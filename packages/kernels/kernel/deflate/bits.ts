/*
 * The bit stream of DEFLATE (RFC 1951, 3.1.1): the first bit is the lowest of the first byte.
 * Up to 7 bits wait for their byte; `put` may add up to 57 before the next `flush`.
 */

let waiting: u64 = 0;
let count: u64 = 0;
let at: usize = 0;

/** Starts a stream at an address. */
export function open(address: usize): void {
  at = address;
  waiting = 0;
  count = 0;
}

/** Adds bits, the lowest first. */
export function put(bits: u64, length: u64): void {
  waiting |= bits << count;
  count += length;
}

/** Writes whole bytes; up to 8 bytes behind them are overwritten too. */
export function flush(): void {
  store<u64>(at, waiting);
  at += <usize>(count >> 3);
  waiting >>= count & 0x38;
  count &= 7;
}

/** Goes on at the next byte boundary and returns its address. */
export function align(): usize {
  flush();
  if (count > 0) at++;
  waiting = 0;
  count = 0;
  return at;
}

/** Goes on behind bytes that were written directly; the stream must be aligned. */
export function skip(bytes: usize): void {
  at += bytes;
}

/** A loop may keep these in locals, which is faster, and must give them back by `resume`. */
export function bitsWaiting(): u64 {
  return waiting;
}
export function bitsCount(): u64 {
  return count;
}
export function address(): usize {
  return at;
}
export function resume(address: usize, bits: u64, length: u64): void {
  at = address;
  waiting = bits;
  count = length;
}
