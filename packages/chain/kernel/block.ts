/*
 * What JavaScript says of a block before its parts are scanned, and what it is told of them. Both are plain bytes in static
 * memory; src/scan/block-facts.ts has the same offsets.
 */

/** `"0x…"` of the block's hash: 68 bytes. */
export const HASH: usize = memory.data(512, 16);
/** Texts with their lengths before them (u32): number and timestamp as QUANTITY with quotes, number in decimal. */
const NUMBER: usize = HASH + 68;
const TIMESTAMP: usize = NUMBER + 28;
const DECIMAL: usize = TIMESTAMP + 28;
/** The chain's id as QUANTITY with quotes. */
const CHAIN_ID: usize = DECIMAL + 28;
/** Base fee (u64), as far as there is one: else LARGE. */
const BASE_FEE: usize = HASH + 184;
/** Chain id as a number (u64). */
const CHAIN: usize = HASH + 192;
/** Checks that hold: bits. */
const CHECKS: usize = HASH + 200;

export const PRICES: u32 = 1;
export const ADDRESSES: u32 = 2;
export const LOG_CALLS: u32 = 4;
export const SUMS: u32 = 8;
/** Receipts were asked for, so that traces are held against them. */
export const RECEIPTS_GIVEN: u32 = 16;
/** The chain has deposits of the OP stack. */
export const DEPOSITS: u32 = 32;
/** Since Amsterdam, whose system logs in a name of its own. */
export const AMSTERDAM: u32 = 64;

export function numberAt(): usize {
  return NUMBER + 4;
}
export function numberLength(): usize {
  return <usize>load<u32>(NUMBER);
}
export function timestampAt(): usize {
  return TIMESTAMP + 4;
}
export function timestampLength(): usize {
  return <usize>load<u32>(TIMESTAMP);
}
export function decimalAt(): usize {
  return DECIMAL + 4;
}
export function decimalLength(): usize {
  return <usize>load<u32>(DECIMAL);
}
export function chainIdAt(): usize {
  return CHAIN_ID + 4;
}
export function chainIdLength(): usize {
  return <usize>load<u32>(CHAIN_ID);
}
export function baseFee(): u64 {
  return load<u64>(BASE_FEE);
}
export function chain(): u64 {
  return load<u64>(CHAIN);
}
export function checks(check: u32): bool {
  return (load<u32>(CHECKS) & check) !== 0;
}

/** What was found: both roots, the bloom, and numbers. */
export const TRANSACTIONS_ROOT: usize = memory.data(512, 16);
export const RECEIPTS_ROOT: usize = TRANSACTIONS_ROOT + 32;
export const BLOCK_BLOOM: usize = TRANSACTIONS_ROOT + 64;
const COUNT: usize = TRANSACTIONS_ROOT + 320;
const BODY: usize = TRANSACTIONS_ROOT + 328;
const GAS: usize = TRANSACTIONS_ROOT + 336;
const HAS_DEPOSITS: usize = TRANSACTIONS_ROOT + 344;
/** Start and end of the texts: of transactions, receipts, logs, traces. */
const TEXTS: usize = TRANSACTIONS_ROOT + 352;

export function found(transactions: u32, bodyLength: u64, hasDeposits: bool): void {
  store<u32>(COUNT, transactions);
  store<u64>(BODY, bodyLength);
  store<u32>(HAS_DEPOSITS, hasDeposits ? 1 : 0);
}
export function usedGas(gas: u64): void {
  store<u64>(GAS, gas);
}
/** 0 transactions, 1 receipts, 2 logs, 3 traces. */
export function wrote(text: usize, start: usize, end: usize): void {
  store<u32>(TEXTS + 8 * text, <u32>start);
  store<u32>(TEXTS + 8 * text, <u32>end, 4);
}
