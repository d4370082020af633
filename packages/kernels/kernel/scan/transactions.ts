/*
 * The transactions of a block: canonical text, hashes, root, and the checks of src/prove/prove-transactions.ts and
 * check-chain.ts. What is left out and follows from the rest is filled in as src/prove/complete.ts does.
 */

import * as L from '../../src/layout';
import { unhex } from '../shared/hex';
import { keccak } from '../shared/keccak';
import {
  beginItem,
  beginList,
  endItem,
  endList,
  itemCount,
  itemEnd,
  itemStart,
  openRlp,
  putEmpty,
  putQuantity,
  rlpListLength,
} from '../shared/rlp';
import {
  authorizations,
  authorizationsFrom,
  authorizationsLength,
  putAuthorizations,
} from './authorizations';
import {
  baseFee,
  CHAIN_ID,
  chain,
  checks,
  found,
  HASH,
  NUMBER,
  TIMESTAMP,
  TRANSACTIONS_ROOT,
  wrote,
} from './block';
import * as F from './fields';
import { putAccessList, putHashes } from './lists';
import { region } from './memory';
import { readObject } from './object';
import { addSignature, closeSignatures, openSignatures } from './signatures';
import {
  digitsAt,
  getLength,
  getNumber,
  has,
  isFact,
  isNull,
  isText,
  isZero,
  lacks,
  openPads,
  pad,
  putBytes,
  putNumber,
  set,
  TRANSACTION_SLOTS as TX,
  valueAt,
} from './slots';
import { CLOSE_LIST, COMMA, LARGE, OPEN_LIST, same, writeQuantity } from './text';
import { trieRoot } from './trie';
import { dropNoise, writeObject } from './write';

/** No transaction's JSON is shorter: two hashes, two addresses and the names of eleven fields. */
const SHORTEST: usize = 256;
/** Texts of the canonical order are so much longer at most, all together: what is filled in, and padded words. */
const LONGER: usize = 512;

/** What is kept of a transaction: addresses and lengths of values (u32). */
let kept: usize = 0;
let most: u32 = 0;
let count: u32 = 0;

export function transactionCount(): u32 {
  return count;
}
function fact(index: u32, at: usize): u32 {
  return load<u32>(kept + <usize>index * L.TRANSACTION_BYTES + at);
}
/** Texts that are kept of a transaction: address, 0 if it has none, and length. */
export const VALUE: usize = 12;
export const INPUT: usize = 20;
export const TYPE: usize = 32;
export const PRICE: usize = 40;
export const NONCE: usize = 48;
export const INDEX: usize = 56;
/** `depositReceiptVersion` of a deposit. */
export const VERSION: usize = 68;
const OFFER: usize = 80;

export function textAt(index: u32, text: usize): usize {
  return <usize>fact(index, text);
}
export function textLength(index: u32, text: usize): usize {
  return <usize>fact(index, text + 4);
}
/** Whether a field is exactly a text of the transaction. */
export function isKept(slots: usize, field: u32, index: u32, text: usize): bool {
  return isText(slots, field, textAt(index, text), textLength(index, text));
}
/** Sets a field that repeats a text of the transaction. */
export function setKept(slots: usize, field: u32, index: u32, text: usize): void {
  set(slots, field, textAt(index, text), textLength(index, text));
}
/** Of `"0x…"` of its hash. */
export function getHash(index: u32): usize {
  return <usize>fact(index, 0);
}
export function getSender(index: u32): usize {
  return <usize>fact(index, 4);
}
/** 0 if it creates a contract. */
export function getRecipient(index: u32): usize {
  return <usize>fact(index, 8);
}
export function getKind(index: u32): u32 {
  return fact(index, L.TRANSACTION_KIND);
}
export function isDeposit(index: u32): bool {
  return getKind(index) === L.KIND_DEPOSIT;
}
export function countBlobs(index: u32): u32 {
  return fact(index, 64);
}
/** What it offers for gas at most; LARGE from 2^60 on. Kept where its price need not follow from that. */
export function getOffer(index: u32): u64 {
  return load<u64>(kept + <usize>index * L.TRANSACTION_BYTES, OFFER);
}

function keep(kind: u32): void {
  const at = kept + <usize>count * L.TRANSACTION_BYTES;
  store<u32>(at, <u32>valueAt(TX, F.TX_HASH));
  store<u32>(at, <u32>valueAt(TX, F.TX_FROM), 4);
  store<u32>(at, isNull(TX, F.TX_TO) ? 0 : <u32>valueAt(TX, F.TX_TO), 8);
  keepText(at + VALUE, F.TX_VALUE);
  keepText(at + INPUT, F.TX_INPUT);
  store<u32>(at, kind, L.TRANSACTION_KIND);
  keepText(at + TYPE, F.TX_TYPE);
  keepText(at + PRICE, F.TX_GAS_PRICE);
  keepText(at + NONCE, F.TX_NONCE);
  keepText(at + INDEX, F.TX_TRANSACTION_INDEX);
  keepText(at + VERSION, F.TX_DEPOSIT_RECEIPT_VERSION);
  const blobs = has(TX, F.TX_BLOB_VERSIONED_HASHES)
    ? (getLength(TX, F.TX_BLOB_VERSIONED_HASHES) - 1) / 69
    : 0;
  store<u32>(at, <u32>blobs, 64);
  if (kind !== L.KIND_DEPOSIT && !checks(L.CHECK_PRICES))
    store<u64>(at, getNumber(TX, kind < 2 ? F.TX_GAS_PRICE : F.TX_MAX_FEE_PER_GAS), OFFER);
}

function keepText(at: usize, field: u32): void {
  store<u32>(at, has(TX, field) ? <u32>valueAt(TX, field) : 0);
  store<u32>(at, <u32>getLength(TX, field), 4);
}

/**
 * Scans the array of transactions at `p`, which has `length` bytes. Returns 1, or 0 if it is declined.
 */
export function transactions(p: usize, length: usize): u32 {
  const answerEnd = p + length;
  most = <u32>(length / SHORTEST);
  count = 0;
  kept = region(<usize>most * L.TRANSACTION_BYTES);
  const textBytes = length + <usize>most * LONGER + 64;
  let to = region(textBytes);
  const end = to + textBytes;
  const rlp = region(length);
  const items = region(<usize>most * 8);
  if (kept === 0 || to === 0 || rlp === 0 || items === 0 || !openPads(length + 512)) return 0;
  if (!openSignatures(most)) return 0;
  openRlp(rlp, rlp + length, items, items + <usize>most * 8);
  const start = to;
  let bodyLength: u64 = 0;
  let deposits: u32 = 0;
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  store<u8>(to++, OPEN_LIST);
  if (<u32>load<u8>(p) === CLOSE_LIST) {
    store<u8>(to++, CLOSE_LIST);
    p++;
  } else {
    while (true) {
      if (count === most) return 0;
      p = readObject(p, F.TRANSACTION, TX);
      if (p === 0) return 0;
      const kind = kindOfSlots();
      if (kind === NO_KIND) return 0;
      const order = orderOf(kind);
      dropNoise(order, TX);
      if (!complete(kind) || !isOfType(kind) || !isOfBlock(kind) || !isOfChain(kind)) return 0;
      to = writeObject(to, end, order, TX);
      if (to === 0 || !encode(kind)) return 0;
      const bytes = itemEnd(count) - itemStart(count);
      bodyLength += <u64>(kind === 0 ? bytes : rlpListLength(bytes));
      if (kind === L.KIND_DEPOSIT) deposits++;
      keep(kind);
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
  found(count, bodyLength, deposits);
  closeSignatures();
  wrote(0, start, to);
  return 1;
}

const NO_KIND: u32 = 0xff;

/** Its type as a number; NO_KIND if it is none of Ethereum's and no deposit. */
function kindOfSlots(): u32 {
  if (!has(TX, F.TX_TYPE)) return 0;
  const type = getNumber(TX, F.TX_TYPE);
  if (type <= 4) return <u32>type;
  return type === <u64>L.KIND_DEPOSIT && checks(L.CHECK_DEPOSITS) && has(TX, F.TX_SOURCE_HASH)
    ? L.KIND_DEPOSIT
    : NO_KIND;
}

/** The order of a type, which has no fields of other types. */
function orderOf(kind: u32): u32 {
  if (kind === L.KIND_DEPOSIT) return F.TRANSACTION_DEPOSIT;
  return kind === 0 ? F.TRANSACTION : F.TRANSACTION_TYPE_1 + kind - 1;
}

/** Whether its fields have values that its type allows (src/prove/check-type.ts). Parity of type 0 is declined. */
function isOfType(kind: u32): bool {
  if (kind === 0) return !has(TX, F.TX_Y_PARITY);
  if (kind !== L.KIND_DEPOSIT) return true;
  // Nobody signs or pays for a deposit.
  const isSigned = isSet(F.TX_V) || isSet(F.TX_Y_PARITY) || isSet(F.TX_R) || isSet(F.TX_S);
  return !isSigned && !isSet(F.TX_GAS_PRICE);
}

function isSet(field: u32): bool {
  return has(TX, field) && !isZero(TX, field);
}

/** `"0x0"` and `[]`. */
const TYPE_0: usize = memory.data<u8>([34, 48, 120, 48, 34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const NO_LIST: usize = memory.data<u8>([91, 93, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/** Fills in what is left out and follows from the rest. Returns whether a transaction of its type is whole. */
function complete(kind: u32): bool {
  if (has(TX, F.TX_AUTHORIZATION_LIST) && !completeAuthorizations()) return false;
  if (!has(TX, F.TX_TYPE)) set(TX, F.TX_TYPE, TYPE_0, 5);
  if (kind === L.KIND_DEPOSIT) return true;
  if (kind === 0) return completeLegacy();
  if (!has(TX, F.TX_ACCESS_LIST)) set(TX, F.TX_ACCESS_LIST, NO_LIST, 2);
  if (!has(TX, F.TX_V)) alsoAs(F.TX_V, F.TX_Y_PARITY);
  else if (!has(TX, F.TX_Y_PARITY)) alsoAs(F.TX_Y_PARITY, F.TX_V);
  if (lacks(TX, F.TX_CHAIN_ID)) set(TX, F.TX_CHAIN_ID, CHAIN_ID + 4, <usize>load<u32>(CHAIN_ID));
  if (kind === 1) return true;
  if (lacks(TX, F.TX_MAX_FEE_PER_GAS) || lacks(TX, F.TX_MAX_PRIORITY_FEE_PER_GAS)) return false;
  return kind !== 3 || has(TX, F.TX_MAX_FEE_PER_BLOB_GAS);
}

/** Reads the authorization list, and puts its canonical text in its place. */
function completeAuthorizations(): bool {
  const at = valueAt(TX, F.TX_AUTHORIZATION_LIST);
  if (authorizations(at) !== at + getLength(TX, F.TX_AUTHORIZATION_LIST)) return false;
  set(TX, F.TX_AUTHORIZATION_LIST, authorizationsFrom(), authorizationsLength());
  return true;
}

function alsoAs(field: u32, other: u32): void {
  if (has(TX, other)) set(TX, field, valueAt(TX, other), getLength(TX, other));
}

/** The chain that it was signed for (EIP-155). */
function completeLegacy(): bool {
  if (!lacks(TX, F.TX_CHAIN_ID) || !has(TX, F.TX_V)) return true;
  const v = getNumber(TX, F.TX_V);
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
  if (!has(TX, F.TX_BLOCK_NUMBER) || !isFact(TX, F.TX_BLOCK_NUMBER, NUMBER)) return false;
  if (!has(TX, F.TX_TRANSACTION_INDEX)) return false;
  const index = getNumber(TX, F.TX_TRANSACTION_INDEX);
  if (index !== <u64>count) return false;
  if (has(TX, F.TX_BLOCK_TIMESTAMP) && !isFact(TX, F.TX_BLOCK_TIMESTAMP, TIMESTAMP)) return false;
  if (kind !== 0 && has(TX, F.TX_Y_PARITY) && has(TX, F.TX_V)) {
    if (!isText(TX, F.TX_Y_PARITY, valueAt(TX, F.TX_V), getLength(TX, F.TX_V))) return false;
  }
  return kind < 2 || kind > 4 || hasPrice();
}

/**
 * Whether its price is the lesser of its maximum, and of the base fee with its tip (EIP-1559), or at least no more than
 * its maximum (src/prove/check-price.ts).
 */
function hasPrice(): bool {
  if (!has(TX, F.TX_GAS_PRICE)) return false;
  const most = getNumber(TX, F.TX_MAX_FEE_PER_GAS);
  const price = getNumber(TX, F.TX_GAS_PRICE);
  if (most === LARGE || price === LARGE) return false;
  if (!checks(L.CHECK_PRICES) || baseFee() === u64.MAX_VALUE) return price <= most;
  const tip = getNumber(TX, F.TX_MAX_PRIORITY_FEE_PER_GAS);
  return tip !== LARGE && price === min<u64>(most, baseFee() + tip);
}

/** Whether it was signed for this chain, and names no other (EIP-155; src/prove/check-chain.ts). */
function isOfChain(kind: u32): bool {
  const namesOwn = lacks(TX, F.TX_CHAIN_ID) || isFact(TX, F.TX_CHAIN_ID, CHAIN_ID);
  if (kind !== 0) return namesOwn;
  if (!has(TX, F.TX_V)) return false;
  const v = getNumber(TX, F.TX_V);
  if (v === 2 * chain() + 35 || v === 2 * chain() + 36) return namesOwn;
  // Signed for no chain, so that some nodes name 0.
  return v < 35 && (namesOwn || getNumber(TX, F.TX_CHAIN_ID) === 0);
}

const COMPUTED: usize = memory.data(96, 16);

/** Writes its RLP, and compares the hash. */
function encode(kind: u32): bool {
  const payload = beginItem();
  if (kind === L.KIND_DEPOSIT) {
    putBytes(TX, F.TX_SOURCE_HASH);
    putBytes(TX, F.TX_FROM);
    putRecipient();
    if (has(TX, F.TX_MINT)) putNumber(TX, F.TX_MINT);
    else putEmpty();
    putNumber(TX, F.TX_VALUE);
    putNumber(TX, F.TX_GAS);
    if (has(TX, F.TX_IS_SYSTEM_TX) && load<u8>(valueAt(TX, F.TX_IS_SYSTEM_TX)) === 0x74) putQuantity(ONE, 1);
    else putEmpty();
    putBytes(TX, F.TX_INPUT);
  } else {
    if (kind !== 0) putNumber(TX, F.TX_CHAIN_ID);
    putNumber(TX, F.TX_NONCE);
    if (kind < 2) {
      putNumber(TX, F.TX_GAS_PRICE);
    } else {
      putNumber(TX, F.TX_MAX_PRIORITY_FEE_PER_GAS);
      putNumber(TX, F.TX_MAX_FEE_PER_GAS);
    }
    putNumber(TX, F.TX_GAS);
    putRecipient();
    putNumber(TX, F.TX_VALUE);
    putBytes(TX, F.TX_INPUT);
    if (kind !== 0) putAccessList(valueAt(TX, F.TX_ACCESS_LIST));
    if (kind === 3) putBlobs();
    if (kind === 4) {
      if (has(TX, F.TX_AUTHORIZATION_LIST)) putAuthorizations(valueAt(TX, F.TX_AUTHORIZATION_LIST));
      else endList(beginList());
    }
    if (!addSignature(kind, payload, count)) return false;
    putNumber(TX, F.TX_V);
    putNumber(TX, F.TX_R);
    putNumber(TX, F.TX_S);
  }
  if (!endItem(payload, kind)) return false;
  const item = itemCount() - 1;
  keccak(itemStart(item), itemEnd(item) - itemStart(item), COMPUTED);
  unhex(digitsAt(TX, F.TX_HASH), 64, COMPUTED + 32);
  return same(COMPUTED, COMPUTED + 32, 32);
}

/** `1` */
const ONE: usize = memory.data<u8>([49]);

function putRecipient(): void {
  if (isNull(TX, F.TX_TO)) putEmpty();
  else putBytes(TX, F.TX_TO);
}

function putBlobs(): void {
  putNumber(TX, F.TX_MAX_FEE_PER_BLOB_GAS);
  const hashes = beginList();
  if (has(TX, F.TX_BLOB_VERSIONED_HASHES)) putHashes(valueAt(TX, F.TX_BLOB_VERSIONED_HASHES));
  endList(hashes);
}
