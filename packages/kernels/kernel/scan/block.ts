/*
 * What JavaScript says of a block before its parts are scanned, and what it is told of them. Both are plain bytes in static
 * memory.
 */
import * as L from '../../src/layout';

/** `"0x…"` of the block's hash: 68 bytes. */
export const HASH: usize = memory.data(512, 16);
/** Texts, each behind its length (u32). */
export const NUMBER: usize = HASH + L.FACT_NUMBER;
export const TIMESTAMP: usize = HASH + L.FACT_TIMESTAMP;
export const DECIMAL: usize = HASH + L.FACT_DECIMAL;
export const CHAIN_ID: usize = HASH + L.FACT_CHAIN_ID;
export const BLOB_PRICE: usize = HASH + L.FACT_BLOB_PRICE;

export function baseFee(): u64 {
  return load<u64>(HASH, L.FACT_BASE_FEE);
}
export function chain(): u64 {
  return load<u64>(HASH, L.FACT_CHAIN);
}
export function checks(check: u32): bool {
  return (load<u32>(HASH, L.FACT_CHECKS) & check) !== 0;
}

/** What was found: both roots, the bloom, and numbers. */
export const TRANSACTIONS_ROOT: usize = memory.data(512, 16);
export const RECEIPTS_ROOT: usize = TRANSACTIONS_ROOT + L.FOUND_RECEIPTS_ROOT;
export const BLOCK_BLOOM: usize = TRANSACTIONS_ROOT + L.FOUND_BLOOM;

export function found(transactions: u32, bodyLength: u64, hasDeposits: bool): void {
  store<u32>(TRANSACTIONS_ROOT, transactions, L.FOUND_COUNT);
  store<u64>(TRANSACTIONS_ROOT, bodyLength, L.FOUND_BODY);
  store<u32>(TRANSACTIONS_ROOT, hasDeposits ? 1 : 0, L.FOUND_DEPOSITS);
}
export function hasDeposits(): bool {
  return load<u32>(TRANSACTIONS_ROOT, L.FOUND_DEPOSITS) !== 0;
}
/** Start and end of the rows of signatures. */
export function signedRows(start: usize, end: usize): void {
  store<u32>(TRANSACTIONS_ROOT, <u32>start, L.FOUND_SIGNATURES);
  store<u32>(TRANSACTIONS_ROOT, <u32>end, L.FOUND_SIGNATURES + 4);
}
/** `footprint`: NONE if no receipt has a share. */
export function used(gas: u64, footprint: u64): void {
  store<u64>(TRANSACTIONS_ROOT, gas, L.FOUND_GAS);
  store<u64>(TRANSACTIONS_ROOT, footprint, L.FOUND_FOOTPRINT);
}
export const NONE: u64 = u64.MAX_VALUE;
/** 0 transactions, 1 receipts, 2 logs, 3 traces. */
export function wrote(text: usize, start: usize, end: usize): void {
  const at = TRANSACTIONS_ROOT + L.FOUND_TEXTS + 8 * text;
  store<u32>(at, <u32>start);
  store<u32>(at, <u32>end, 4);
}
