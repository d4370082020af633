/*
 * The transactions of a block: canonical text, hashes, root, and the checks of src/prove/prove-transactions.ts and
 * check-chain.ts. What is left out and follows from the rest is filled in as src/prove/complete.ts does.
 */

import {
  authorizations,
  authorizationsFrom,
  authorizationsLength,
  putAuthorizations,
} from './authorizations';
import {
  baseFee,
  chain,
  chainIdAt,
  chainIdLength,
  checks,
  DEPOSITS,
  found,
  HASH,
  numberAt,
  numberLength,
  PRICES,
  TRANSACTIONS_ROOT,
  timestampAt,
  timestampLength,
  wrote,
} from './block';
import * as F from './fields';
import { unhex } from './hex';
import { keccak } from './keccak';
import { putAccessList, putHashes } from './lists';
import { region } from './memory';
import { readObject } from './object';
import {
  beginItem,
  beginList,
  endItem,
  endList,
  itemCount,
  itemEnd,
  itemStart,
  openRlp,
  putData,
  putEmpty,
  putQuantity,
  rlpListLength,
} from './rlp';
import {
  digitsAt,
  digitsOf,
  has,
  isNull,
  isText,
  lacks,
  lengthOf,
  openPads,
  pad,
  set,
  TRANSACTION_SLOTS as TX,
  valueAt,
} from './slots';
import { CLOSE_LIST, COMMA, hexNumber, LARGE, OPEN_LIST, same, writeQuantity } from './text';
import { trieRoot } from './trie';
import { writeObject } from './write';

const DEPOSIT: u32 = 0x7e;
/** No transaction's JSON is shorter: two hashes, two addresses and the names of eleven fields. */
const SHORTEST: usize = 256;
/** Texts of the canonical order are so much longer at most, all together: what is filled in, and padded words. */
const LONGER: usize = 512;

/** What is kept of a transaction: addresses and lengths of values (u32). */
const KEPT: usize = 96;
let kept: usize = 0;
let most: u32 = 0;
let count: u32 = 0;

export function transactionCount(): u32 {
  return count;
}
function fact(index: u32, at: usize): u32 {
  return load<u32>(kept + KEPT * <usize>index + at);
}
/** Of `"0x…"` of its hash. */
export function hashOf(index: u32): usize {
  return <usize>fact(index, 0);
}
export function senderOf(index: u32): usize {
  return <usize>fact(index, 4);
}
/** 0 if it creates a contract. */
export function recipientOf(index: u32): usize {
  return <usize>fact(index, 8);
}
export function transactionValueAt(index: u32): usize {
  return <usize>fact(index, 12);
}
export function transactionValueLength(index: u32): usize {
  return <usize>fact(index, 16);
}
export function inputAt(index: u32): usize {
  return <usize>fact(index, 20);
}
export function inputLength(index: u32): usize {
  return <usize>fact(index, 24);
}
export function kindOf(index: u32): u32 {
  return fact(index, 28);
}
export function isDeposit(index: u32): bool {
  return kindOf(index) === DEPOSIT;
}
export function typeAt(index: u32): usize {
  return <usize>fact(index, 32);
}
export function typeLength(index: u32): usize {
  return <usize>fact(index, 36);
}
/** 0 if it has none. */
export function priceAt(index: u32): usize {
  return <usize>fact(index, 40);
}
export function priceLength(index: u32): usize {
  return <usize>fact(index, 44);
}
/** 0 if it has none. */
export function nonceAt(index: u32): usize {
  return <usize>fact(index, 48);
}
export function nonceLength(index: u32): usize {
  return <usize>fact(index, 52);
}
export function indexAt(index: u32): usize {
  return <usize>fact(index, 56);
}
export function indexLength(index: u32): usize {
  return <usize>fact(index, 60);
}
export function blobsOf(index: u32): u32 {
  return fact(index, 64);
}
/** Address of the facts, whose words from 68 on are: start and end in the answer, and whether it was signed. */
export function factsAt(): usize {
  return kept;
}

function keep(start: usize, end: usize, kind: u32): void {
  const at = kept + KEPT * <usize>count;
  store<u32>(at, <u32>valueAt(TX, F.TX_HASH));
  store<u32>(at, <u32>valueAt(TX, F.TX_FROM), 4);
  store<u32>(at, isNull(TX, F.TX_TO) ? 0 : <u32>valueAt(TX, F.TX_TO), 8);
  store<u32>(at, <u32>valueAt(TX, F.TX_VALUE), 12);
  store<u32>(at, <u32>lengthOf(TX, F.TX_VALUE), 16);
  store<u32>(at, <u32>valueAt(TX, F.TX_INPUT), 20);
  store<u32>(at, <u32>lengthOf(TX, F.TX_INPUT), 24);
  store<u32>(at, kind, 28);
  store<u32>(at, <u32>valueAt(TX, F.TX_TYPE), 32);
  store<u32>(at, <u32>lengthOf(TX, F.TX_TYPE), 36);
  store<u32>(at, has(TX, F.TX_GAS_PRICE) ? <u32>valueAt(TX, F.TX_GAS_PRICE) : 0, 40);
  store<u32>(at, <u32>lengthOf(TX, F.TX_GAS_PRICE), 44);
  store<u32>(at, has(TX, F.TX_NONCE) ? <u32>valueAt(TX, F.TX_NONCE) : 0, 48);
  store<u32>(at, <u32>lengthOf(TX, F.TX_NONCE), 52);
  store<u32>(at, <u32>valueAt(TX, F.TX_TRANSACTION_INDEX), 56);
  store<u32>(at, <u32>lengthOf(TX, F.TX_TRANSACTION_INDEX), 60);
  const blobs = has(TX, F.TX_BLOB_VERSIONED_HASHES) ? (lengthOf(TX, F.TX_BLOB_VERSIONED_HASHES) - 1) / 69 : 0;
  store<u32>(at, <u32>blobs, 64);
  store<u32>(at, <u32>start, 68);
  store<u32>(at, <u32>end, 72);
  store<u32>(at, kind !== DEPOSIT && !isUnsigned() ? 1 : 0, 76);
}

/** Whether its signature is all zeros: a system made it. */
function isUnsigned(): bool {
  return isZero(F.TX_R) && isZero(F.TX_S);
}

function isZero(field: u32): bool {
  const at = digitsAt(TX, field);
  for (let i: usize = 0; i < digitsOf(TX, field); i++) if (load<u8>(at + i) !== 0x30) return false;
  return true;
}

/**
 * Scans the array of transactions at `p`, which has `length` bytes. Returns 1, or 0 if it is declined.
 */
export function transactions(p: usize, length: usize): u32 {
  const answerEnd = p + length;
  most = <u32>(length / SHORTEST);
  count = 0;
  kept = region(<usize>most * KEPT);
  const textBytes = length + <usize>most * LONGER + 64;
  let to = region(textBytes);
  const end = to + textBytes;
  const rlp = region(length);
  const items = region(<usize>most * 8);
  if (kept === 0 || to === 0 || rlp === 0 || items === 0 || !openPads(length + 512)) return 0;
  openRlp(rlp, rlp + length, items, items + <usize>most * 8);
  const start = to;
  let bodyLength: u64 = 0;
  let hasDeposits = false;
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  store<u8>(to++, OPEN_LIST);
  if (<u32>load<u8>(p) === CLOSE_LIST) {
    store<u8>(to++, CLOSE_LIST);
    p++;
  } else {
    while (true) {
      if (count === most) return 0;
      const from = p;
      p = readObject(p, F.TRANSACTION, TX);
      if (p === 0) return 0;
      const kind = kindOfSlots();
      if (kind === NO_KIND || !complete(kind) || !isOfBlock(kind) || !isOfChain(kind)) return 0;
      to = writeObject(to, end, kind === DEPOSIT ? F.TRANSACTION_DEPOSIT : F.TRANSACTION, TX);
      if (to === 0 || !encode(kind)) return 0;
      const bytes = itemEnd(count) - itemStart(count);
      bodyLength += <u64>(kind === 0 ? bytes : rlpListLength(bytes));
      if (kind === DEPOSIT) hasDeposits = true;
      keep(from, p, kind);
      count++;
      const byte = <u32>load<u8>(p++);
      store<u8>(to++, byte);
      if (byte === CLOSE_LIST) break;
      if (byte !== COMMA) return 0;
    }
  }
  // Nothing may follow the list.
  if (p !== answerEnd) return 0;
  if (!trieRoot(TRANSACTIONS_ROOT)) return 0;
  found(count, bodyLength, hasDeposits);
  wrote(0, start, to);
  return 1;
}

const NO_KIND: u32 = 0xff;

/** Its type as a number; NO_KIND if it is none of Ethereum's and no deposit. */
function kindOfSlots(): u32 {
  if (!has(TX, F.TX_TYPE)) return 0;
  const type = hexNumber(digitsAt(TX, F.TX_TYPE), digitsOf(TX, F.TX_TYPE));
  if (type <= 4) return <u32>type;
  return type === <u64>DEPOSIT && checks(DEPOSITS) && has(TX, F.TX_SOURCE_HASH) ? DEPOSIT : NO_KIND;
}

/** `"0x0"` and `[]`. */
const TYPE_0: usize = memory.data<u8>([34, 48, 120, 48, 34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const NO_LIST: usize = memory.data<u8>([91, 93, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/** Fills in what is left out and follows from the rest. Returns whether a transaction of its type is whole. */
function complete(kind: u32): bool {
  if (has(TX, F.TX_AUTHORIZATION_LIST) && !completeAuthorizations()) return false;
  if (!has(TX, F.TX_TYPE)) set(TX, F.TX_TYPE, TYPE_0, 5);
  if (kind === DEPOSIT) return true;
  if (kind === 0) return completeLegacy();
  if (!has(TX, F.TX_ACCESS_LIST)) set(TX, F.TX_ACCESS_LIST, NO_LIST, 2);
  if (!has(TX, F.TX_V)) alsoAs(F.TX_V, F.TX_Y_PARITY);
  else if (!has(TX, F.TX_Y_PARITY)) alsoAs(F.TX_Y_PARITY, F.TX_V);
  if (lacks(TX, F.TX_CHAIN_ID)) set(TX, F.TX_CHAIN_ID, chainIdAt(), chainIdLength());
  if (kind === 1) return true;
  if (!has(TX, F.TX_MAX_FEE_PER_GAS) || !has(TX, F.TX_MAX_PRIORITY_FEE_PER_GAS)) return false;
  return kind !== 3 || has(TX, F.TX_MAX_FEE_PER_BLOB_GAS);
}

/** Reads the authorization list, and puts its canonical text in its place. */
function completeAuthorizations(): bool {
  const at = valueAt(TX, F.TX_AUTHORIZATION_LIST);
  if (authorizations(at) !== at + lengthOf(TX, F.TX_AUTHORIZATION_LIST)) return false;
  set(TX, F.TX_AUTHORIZATION_LIST, authorizationsFrom(), authorizationsLength());
  return true;
}

function alsoAs(field: u32, other: u32): void {
  if (has(TX, other)) set(TX, field, valueAt(TX, other), lengthOf(TX, other));
}

/** The chain that it was signed for (EIP-155). */
function completeLegacy(): bool {
  if (!lacks(TX, F.TX_CHAIN_ID) || !has(TX, F.TX_V)) return true;
  const v = hexNumber(digitsAt(TX, F.TX_V), digitsOf(TX, F.TX_V));
  if (v === LARGE) return false;
  if (v < 35) return true;
  const at = pad(24);
  if (at === 0) return false;
  set(TX, F.TX_CHAIN_ID, at, writeQuantity((v - 35) >> 1, at));
  return true;
}

/** Whether the fields that repeat the block's, its place and its price are right. */
function isOfBlock(kind: u32): bool {
  // Both hashes are required by the order, and are looked at only if they are there.
  if (!has(TX, F.TX_BLOCK_HASH) || !same(valueAt(TX, F.TX_BLOCK_HASH), HASH, 68)) return false;
  if (!has(TX, F.TX_BLOCK_NUMBER) || !isText(TX, F.TX_BLOCK_NUMBER, numberAt(), numberLength())) return false;
  if (!has(TX, F.TX_TRANSACTION_INDEX)) return false;
  const index = hexNumber(digitsAt(TX, F.TX_TRANSACTION_INDEX), digitsOf(TX, F.TX_TRANSACTION_INDEX));
  if (index !== <u64>count) return false;
  if (has(TX, F.TX_BLOCK_TIMESTAMP) && !isText(TX, F.TX_BLOCK_TIMESTAMP, timestampAt(), timestampLength()))
    return false;
  if (kind !== 0 && has(TX, F.TX_Y_PARITY) && has(TX, F.TX_V)) {
    if (!isText(TX, F.TX_Y_PARITY, valueAt(TX, F.TX_V), lengthOf(TX, F.TX_V))) return false;
  }
  return kind < 2 || kind > 4 || !checks(PRICES) || baseFee() === LARGE || hasPrice();
}

/** Whether its price is the lesser of its maximum, and of the base fee with its tip (EIP-1559). */
function hasPrice(): bool {
  if (!has(TX, F.TX_GAS_PRICE)) return false;
  const most = number(F.TX_MAX_FEE_PER_GAS);
  const tip = number(F.TX_MAX_PRIORITY_FEE_PER_GAS);
  const price = number(F.TX_GAS_PRICE);
  if (most === LARGE || tip === LARGE || price === LARGE) return false;
  return price === min<u64>(most, baseFee() + tip);
}

function number(field: u32): u64 {
  return hexNumber(digitsAt(TX, field), digitsOf(TX, field));
}

/** Whether it was signed for this chain, and names no other (EIP-155; src/prove/check-chain.ts). */
function isOfChain(kind: u32): bool {
  const namesOwn = lacks(TX, F.TX_CHAIN_ID) || isText(TX, F.TX_CHAIN_ID, chainIdAt(), chainIdLength());
  if (kind !== 0) return namesOwn;
  if (!has(TX, F.TX_V)) return false;
  const v = number(F.TX_V);
  if (v === 2 * chain() + 35 || v === 2 * chain() + 36) return namesOwn;
  // Signed for no chain, so that some nodes name 0.
  return v < 35 && (namesOwn || number(F.TX_CHAIN_ID) === 0);
}

const COMPUTED: usize = memory.data(96, 16);

/** Writes its RLP, and compares the hash. */
function encode(kind: u32): bool {
  const payload = beginItem();
  if (kind === DEPOSIT) {
    putBytes(F.TX_SOURCE_HASH);
    putBytes(F.TX_FROM);
    putRecipient();
    if (has(TX, F.TX_MINT)) putNumber(F.TX_MINT);
    else putEmpty();
    putNumber(F.TX_VALUE);
    putNumber(F.TX_GAS);
    if (has(TX, F.TX_IS_SYSTEM_TX) && load<u8>(valueAt(TX, F.TX_IS_SYSTEM_TX)) === 0x74) putQuantity(ONE, 1);
    else putEmpty();
    putBytes(F.TX_INPUT);
  } else {
    if (kind !== 0) putNumber(F.TX_CHAIN_ID);
    putNumber(F.TX_NONCE);
    if (kind < 2) {
      putNumber(F.TX_GAS_PRICE);
    } else {
      putNumber(F.TX_MAX_PRIORITY_FEE_PER_GAS);
      putNumber(F.TX_MAX_FEE_PER_GAS);
    }
    putNumber(F.TX_GAS);
    putRecipient();
    putNumber(F.TX_VALUE);
    putBytes(F.TX_INPUT);
    if (kind !== 0) putAccessList(valueAt(TX, F.TX_ACCESS_LIST));
    if (kind === 3) putBlobs();
    if (kind === 4) {
      if (has(TX, F.TX_AUTHORIZATION_LIST)) putAuthorizations(valueAt(TX, F.TX_AUTHORIZATION_LIST));
      else endList(beginList());
    }
    putNumber(F.TX_V);
    putNumber(F.TX_R);
    putNumber(F.TX_S);
  }
  if (!endItem(payload, kind)) return false;
  const item = itemCount() - 1;
  keccak(itemStart(item), itemEnd(item) - itemStart(item), COMPUTED);
  unhex(digitsAt(TX, F.TX_HASH), 64, COMPUTED + 32);
  return same(COMPUTED, COMPUTED + 32, 32);
}

/** `1` */
const ONE: usize = memory.data<u8>([49]);

function putNumber(field: u32): void {
  putQuantity(digitsAt(TX, field), digitsOf(TX, field));
}

function putBytes(field: u32): void {
  putData(digitsAt(TX, field), digitsOf(TX, field));
}

function putRecipient(): void {
  if (isNull(TX, F.TX_TO)) putEmpty();
  else putBytes(F.TX_TO);
}

function putBlobs(): void {
  putNumber(F.TX_MAX_FEE_PER_BLOB_GAS);
  const hashes = beginList();
  if (has(TX, F.TX_BLOB_VERSIONED_HASHES)) putHashes(valueAt(TX, F.TX_BLOB_VERSIONED_HASHES));
  endList(hashes);
}
