/*
 * Fields of the objects that the scanner reads, by their numbers in the tables of chain/src/scan/tables.ts, which a test compares
 * with these; and the tables themselves, as that file writes them.
 */
import * as L from '../../src/layout';

/** Kinds of objects. */
export const TRANSACTION: u32 = 0;
export const RECEIPT: u32 = 1;
export const LOG: u32 = 2;
export const TRACE: u32 = 3;
export const ACTION: u32 = 4;
export const RESULT: u32 = 5;
export const AUTHORIZATION: u32 = 6;

/** Forms of values. */
export const QUANTITY: u32 = 0;
export const DATA: u32 = 1;
export const BYTES_20: u32 = 2;
export const BYTES_32: u32 = 3;
export const BYTES_256: u32 = 4;
export const WORD: u32 = 5;
export const INTEGER: u32 = 6;
export const BOOLEAN: u32 = 7;
export const TEXT: u32 = 8;
export const HASHES: u32 = 9;
export const TOPICS: u32 = 10;
export const INTEGERS: u32 = 11;
export const LOGS: u32 = 12;
export const ACCESS_LIST: u32 = 13;
export const AUTHORIZATIONS: u32 = 14;
export const ACTION_OBJECT: u32 = 15;
export const RESULT_OBJECT: u32 = 16;

/** Orders in which the fields of an object are written; the first seven are those of the kinds of objects. */
export const CALL: u32 = 7;
export const CREATE: u32 = 8;
export const SUICIDE: u32 = 9;
export const REWARD: u32 = 10;
export const CALL_RESULT: u32 = 11;
export const CREATE_RESULT: u32 = 12;
export const FAILED_RESULT: u32 = 13;
/** Deposits of the OP stack need no signature and no price. */
export const TRANSACTION_DEPOSIT: u32 = 14;
/** Rewards belong to no transaction. */
export const TRACE_REWARD: u32 = 15;
/** Transactions of types 1 to 4 follow each other; those of type 0 have the order of their kind of objects. */
export const TRANSACTION_TYPE_1: u32 = 16;
/** Receipts of types 0, 1, 2 and 4 have the order of their kind of objects. */
export const RECEIPT_BLOB: u32 = 20;
export const RECEIPT_DEPOSIT: u32 = 21;

export const TX_BLOCK_HASH: u32 = 0;
export const TX_BLOCK_NUMBER: u32 = 1;
export const TX_FROM: u32 = 2;
export const TX_GAS: u32 = 3;
export const TX_GAS_PRICE: u32 = 4;
export const TX_HASH: u32 = 5;
export const TX_INPUT: u32 = 6;
export const TX_NONCE: u32 = 7;
export const TX_TO: u32 = 8;
export const TX_TRANSACTION_INDEX: u32 = 9;
export const TX_VALUE: u32 = 10;
export const TX_V: u32 = 11;
export const TX_R: u32 = 12;
export const TX_S: u32 = 13;
export const TX_TYPE: u32 = 14;
export const TX_CHAIN_ID: u32 = 15;
export const TX_ACCESS_LIST: u32 = 16;
export const TX_SOURCE_HASH: u32 = 17;
export const TX_MINT: u32 = 18;
export const TX_IS_SYSTEM_TX: u32 = 19;
export const TX_AUTHORIZATION_LIST: u32 = 20;
export const TX_BLOB_VERSIONED_HASHES: u32 = 21;
export const TX_BLOCK_TIMESTAMP: u32 = 22;
export const TX_DEPOSIT_RECEIPT_VERSION: u32 = 23;
export const TX_MAX_FEE_PER_BLOB_GAS: u32 = 24;
export const TX_MAX_FEE_PER_GAS: u32 = 25;
export const TX_MAX_PRIORITY_FEE_PER_GAS: u32 = 26;
export const TX_Y_PARITY: u32 = 27;

export const RECEIPT_TRANSACTION_HASH: u32 = 0;
export const RECEIPT_TRANSACTION_INDEX: u32 = 1;
export const RECEIPT_BLOCK_HASH: u32 = 2;
export const RECEIPT_BLOCK_NUMBER: u32 = 3;
export const RECEIPT_FROM: u32 = 4;
export const RECEIPT_TO: u32 = 5;
export const RECEIPT_CUMULATIVE_GAS_USED: u32 = 6;
export const RECEIPT_GAS_USED: u32 = 7;
export const RECEIPT_EFFECTIVE_GAS_PRICE: u32 = 8;
export const RECEIPT_CONTRACT_ADDRESS: u32 = 9;
export const RECEIPT_LOGS: u32 = 10;
export const RECEIPT_LOGS_BLOOM: u32 = 11;
export const RECEIPT_TYPE: u32 = 12;
export const RECEIPT_ROOT: u32 = 13;
export const RECEIPT_STATUS: u32 = 14;
export const RECEIPT_BLOB_GAS_PRICE: u32 = 15;
export const RECEIPT_BLOB_GAS_USED: u32 = 16;
export const RECEIPT_BLOCK_TIMESTAMP: u32 = 17;
export const RECEIPT_DEPOSIT_NONCE: u32 = 18;
export const RECEIPT_DEPOSIT_RECEIPT_VERSION: u32 = 19;
export const RECEIPT_DA_FOOTPRINT_GAS_SCALAR: u32 = 20;

export const LOG_REMOVED: u32 = 0;
export const LOG_LOG_INDEX: u32 = 1;
export const LOG_TRANSACTION_INDEX: u32 = 2;
export const LOG_TRANSACTION_HASH: u32 = 3;
export const LOG_BLOCK_HASH: u32 = 4;
export const LOG_BLOCK_NUMBER: u32 = 5;
export const LOG_ADDRESS: u32 = 6;
export const LOG_DATA: u32 = 7;
export const LOG_TOPICS: u32 = 8;
export const LOG_BLOCK_TIMESTAMP: u32 = 9;
export const LOG_TRANSACTION_LOG_INDEX: u32 = 10;

export const TRACE_ACTION: u32 = 0;
export const TRACE_RESULT: u32 = 1;
export const TRACE_BLOCK_HASH: u32 = 2;
export const TRACE_BLOCK_NUMBER: u32 = 3;
export const TRACE_SUBTRACES: u32 = 4;
export const TRACE_TRACE_ADDRESS: u32 = 5;
export const TRACE_TRANSACTION_HASH: u32 = 6;
export const TRACE_TRANSACTION_POSITION: u32 = 7;
export const TRACE_TYPE: u32 = 8;
export const TRACE_ERROR: u32 = 9;

export const ACTION_CALL_TYPE: u32 = 0;
export const ACTION_FROM: u32 = 1;
export const ACTION_TO: u32 = 2;
export const ACTION_VALUE: u32 = 4;
export const ACTION_INPUT: u32 = 5;
export const ACTION_ADDRESS: u32 = 6;
export const ACTION_INIT: u32 = 10;

export const RESULT_OUTPUT: u32 = 1;
export const RESULT_ADDRESS: u32 = 2;
export const RESULT_CODE: u32 = 3;

export const AUTHORIZATION_ADDRESS: u32 = 0;
export const AUTHORIZATION_CHAIN_ID: u32 = 1;
export const AUTHORIZATION_NONCE: u32 = 2;
export const AUTHORIZATION_R: u32 = 3;
export const AUTHORIZATION_S: u32 = 4;
export const AUTHORIZATION_Y_PARITY: u32 = 5;

const ORDERS: usize = L.TABLES_AT + L.OBJECT_KINDS * L.PLACES * L.PLACE_BYTES;

/**
 * Place of a name, as getHash of write-tables.ts counts it. A place whose length is 0 ends the search.
 */
export function getPlace(kind: u32, first: u64, length: u32): usize {
  const hash = <usize>(((first ^ <u64>length) * 0xc2b2ae3d27d4f) >> 48) & (L.PLACES - 1);
  return (<usize>kind * L.PLACES + hash) * L.PLACE_BYTES + L.TABLES_AT;
}

/** The next place. The last place of each kind is empty, so that no search leaves the table. */
export function nextPlace(place: usize): usize {
  return place + L.PLACE_BYTES;
}

/** Address of an order. */
export function getOrder(order: u32): usize {
  return ORDERS + <usize>order * L.ORDER_BYTES;
}
