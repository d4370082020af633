/*
 * The receipts of a block: canonical text with that of their logs, blooms, root, and the checks of
 * src/prove/prove-receipts.ts and check-receipt.ts.
 */
import { CHECK_ADDRESSES, CHECK_PRICES, CHECK_SUMS } from '../../src/layout';
import { unhex } from '../shared/hex';
import { keccak } from '../shared/keccak';
import { beginItem, endItem, openRlp, putData, putEmpty, putQuantity } from '../shared/rlp';
import {
  BLOB_PRICE,
  BLOCK_BLOOM,
  checks,
  HASH,
  hasDeposits,
  NONE,
  NUMBER,
  RECEIPTS_ROOT,
  TIMESTAMP,
  used,
  wrote,
} from './block';
import { BLOOM, openBloom, orBloom } from './bloom';
import * as F from './fields';
import {
  closeLogs,
  firstLog,
  logCount,
  logList,
  logsFrom,
  logsLength,
  openLogs,
  openReceipt,
  putLogs,
} from './logs';
import { region } from './memory';
import { readObject } from './object';
import {
  digitsAt,
  getDigits,
  getLength,
  getNumber,
  has,
  isFact,
  isNull,
  isText,
  isZero,
  lacks,
  pad,
  putNumber,
  RECEIPT_SLOTS as RECEIPT,
  set,
  unset,
  valueAt,
} from './slots';
import { CLOSE_LIST, COMMA, decimalNumber, hexNumber, LARGE, OPEN_LIST, same, writeQuantity } from './text';
import {
  countBlobs,
  getHash,
  getKind,
  getOffer,
  getRecipient,
  getSender,
  INDEX,
  isDeposit,
  isKept,
  NONCE,
  PRICE,
  setKept,
  TYPE,
  textAt,
  textLength,
  transactionCount,
  VERSION,
} from './transactions';
import { trieRoot } from './trie';
import { dropNoise, writeObject } from './write';

/** What is filled into a receipt, at most. */
const LONGER: usize = 512;
const GAS_PER_BLOB: u64 = 131_072;
const NULL: usize = memory.data<u8>([110, 117, 108, 108, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/** What is kept of a receipt: created contract (0: null), success (2: not known), its first log and the one behind (u32). */
const KEPT: usize = 16;
let kept: usize = 0;

/** Address of `"0x…"` of the contract that the transaction created, 0 if there is none. */
export function createdBy(transaction: u32): usize {
  return <usize>load<u32>(kept + KEPT * <usize>transaction);
}
/** 0 failed, 1 succeeded, 2 not known. */
export function getSuccess(transaction: u32): u32 {
  return load<u32>(kept + KEPT * <usize>transaction, 4);
}
export function getFirstLog(transaction: u32): u32 {
  return load<u32>(kept + KEPT * <usize>transaction, 8);
}
export function getLastLog(transaction: u32): u32 {
  return load<u32>(kept + KEPT * <usize>transaction, 12);
}

/** Scans the array of receipts at `p`, which has `length` bytes, after the transactions. Returns 1, or 0 if it is declined. */
export function receipts(p: usize, length: usize): u32 {
  const answerEnd = p + length;
  const count = transactionCount();
  kept = region(<usize>count * KEPT);
  const textBytes = length + <usize>count * LONGER + 64;
  let to = region(textBytes);
  const end = to + textBytes;
  const logs = region(textBytes);
  const rlp = region(length);
  const items = region(<usize>count * 8);
  if (kept === 0 || to === 0 || logs === 0 || rlp === 0 || items === 0) return 0;
  if (!openLogs(length, logs, logs + textBytes)) return 0;
  openRlp(rlp, rlp + length, items, items + <usize>count * 8);
  memory.fill(BLOCK_BLOOM, 0, 256);
  const start = to;
  let gas: u64 = 0;
  footprint = NONE;
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  store<u8>(to++, OPEN_LIST);
  let index: u32 = 0;
  if (<u32>load<u8>(p) === CLOSE_LIST) {
    store<u8>(to++, CLOSE_LIST);
    p++;
  } else {
    while (true) {
      if (index === count) return 0;
      openReceipt(index);
      p = readObject(p, F.RECEIPT, RECEIPT);
      if (p === 0 || !readLogs()) return 0;
      const order = orderOf(index);
      dropNoise(order, RECEIPT);
      if (!complete(index) || !isOfType(index)) return 0;
      to = writeObject(to, end, order, RECEIPT);
      // All required fields are there from here on.
      if (to === 0 || !isOfTransaction(index) || !hasPrices(index)) return 0;
      gas = gasAfter(index, gas);
      if (gas === LARGE || !hasEnd() || !encode(index) || !isContract(index)) return 0;
      keep(index);
      index++;
      const byte = <u32>load<u8>(p++);
      store<u8>(to++, byte);
      if (byte === CLOSE_LIST) break;
      if (byte !== COMMA) return 0;
    }
  }
  // Nothing may follow the list.
  if (p !== answerEnd) return 0;
  if (index !== count || !trieRoot(RECEIPTS_ROOT)) return 0;
  used(gas, footprint);
  wrote(1, start, to);
  wrote(2, logs, closeLogs());
  return 1;
}

/** Reads the logs, and puts their canonical text in their place. */
function readLogs(): bool {
  if (!has(RECEIPT, F.RECEIPT_LOGS)) return false;
  const at = valueAt(RECEIPT, F.RECEIPT_LOGS);
  if (logList(at) !== at + getLength(RECEIPT, F.RECEIPT_LOGS)) return false;
  set(RECEIPT, F.RECEIPT_LOGS, logsFrom(), logsLength());
  return true;
}

/** Fills in what repeats the transaction or follows from it, as src/prove/complete.ts. */
function complete(index: u32): bool {
  const to = getRecipient(index);
  if (!has(RECEIPT, F.RECEIPT_FROM)) {
    set(RECEIPT, F.RECEIPT_FROM, getSender(index), 44);
    // The first generation of the OP stack writes an address of zeros instead of no contract.
    const isZeros =
      !lacks(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS) && isZero(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS);
    if (to !== 0 && isZeros) set(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS, NULL, 4);
  }
  if (to !== 0 && !has(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS))
    set(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS, NULL, 4);
  if (!has(RECEIPT, F.RECEIPT_TO)) set(RECEIPT, F.RECEIPT_TO, to === 0 ? NULL : to, to === 0 ? 4 : 44);
  if (!has(RECEIPT, F.RECEIPT_TYPE)) setKept(RECEIPT, F.RECEIPT_TYPE, index, TYPE);
  if (isDeposit(index) || !checks(CHECK_PRICES)) return true;
  if (!has(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE) && textAt(index, PRICE) !== 0) {
    setKept(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE, index, PRICE);
  }
  if (getKind(index) === 3 && !has(RECEIPT, F.RECEIPT_BLOB_GAS_USED)) {
    const at = pad(24);
    if (at === 0) return false;
    set(RECEIPT, F.RECEIPT_BLOB_GAS_USED, at, writeQuantity(GAS_PER_BLOB * <u64>countBlobs(index), at));
  }
  return getKind(index) !== 3 || completePrice();
}

/** Fills in the price of blobs. Another than what follows is for the prover to put right, or to leave. */
function completePrice(): bool {
  const length = <usize>load<u32>(BLOB_PRICE);
  if (length === 0) return true;
  if (has(RECEIPT, F.RECEIPT_BLOB_GAS_PRICE)) return isFact(RECEIPT, F.RECEIPT_BLOB_GAS_PRICE, BLOB_PRICE);
  set(RECEIPT, F.RECEIPT_BLOB_GAS_PRICE, BLOB_PRICE + 4, length);
  return true;
}

/** The order of its transaction's type, which has no fields of other types. */
function orderOf(index: u32): u32 {
  if (getKind(index) === 3) return F.RECEIPT_BLOB;
  // Of clients that write the block's price everywhere.
  if (has(RECEIPT, F.RECEIPT_BLOB_GAS_PRICE)) unset(RECEIPT, F.RECEIPT_BLOB_GAS_PRICE);
  return isDeposit(index) ? F.RECEIPT_DEPOSIT : F.RECEIPT;
}

/** Sum of `blobGasUsed` beside `daFootprintGasScalar`, without that of deposits; NONE if there is none. */
let footprint: u64 = NONE;

/** Whether its fields have values that its type allows, and its time is the block's (src/prove/check-type.ts). */
function isOfType(index: u32): bool {
  if (!isOfTime()) return false;
  const hasFootprint = !lacks(RECEIPT, F.RECEIPT_DA_FOOTPRINT_GAS_SCALAR);
  if (has(RECEIPT, F.RECEIPT_BLOB_GAS_USED)) {
    if (getKind(index) !== 3 && !(hasFootprint && hasDeposits())) return false;
    if (hasFootprint && !isDeposit(index)) {
      const share = getNumber(RECEIPT, F.RECEIPT_BLOB_GAS_USED);
      const sum = footprint === NONE ? 0 : footprint;
      if (share >= EXACT || sum >= EXACT) return false;
      footprint = sum + share;
    }
  }
  return !isDeposit(index) || isOfDeposit(index);
}

/** The time as Anvil has it, a number, becomes the block's text. */
function isOfTime(): bool {
  if (!has(RECEIPT, F.RECEIPT_BLOCK_TIMESTAMP)) return true;
  const at = valueAt(RECEIPT, F.RECEIPT_BLOCK_TIMESTAMP);
  const time = decimalNumber(at, at + getLength(RECEIPT, F.RECEIPT_BLOCK_TIMESTAMP));
  const length = <usize>load<u32>(TIMESTAMP);
  if (time !== hexNumber(TIMESTAMP + 7, length - 4)) return false;
  set(RECEIPT, F.RECEIPT_BLOCK_TIMESTAMP, TIMESTAMP + 4, length);
  return true;
}

/** Whether nobody pays for a deposit, and its transaction repeats its receipt. */
function isOfDeposit(index: u32): bool {
  if (has(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE) && !isZero(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE))
    return false;
  const nonce = textAt(index, NONCE);
  const isCounted = nonce !== 0 && hexNumber(nonce + 3, textLength(index, NONCE) - 4) !== 0;
  if (isCounted && !repeats(F.RECEIPT_DEPOSIT_NONCE, index, NONCE)) return false;
  return textAt(index, VERSION) === 0 || repeats(F.RECEIPT_DEPOSIT_RECEIPT_VERSION, index, VERSION);
}

function repeats(field: u32, index: u32, text: usize): bool {
  return has(RECEIPT, field) && isKept(RECEIPT, field, index, text);
}

/** Whether the fields that repeat the block's and the transaction's are the same. */
function isOfTransaction(index: u32): bool {
  if (!same(valueAt(RECEIPT, F.RECEIPT_BLOCK_HASH), HASH, 68)) return false;
  if (!isFact(RECEIPT, F.RECEIPT_BLOCK_NUMBER, NUMBER)) return false;
  if (!same(valueAt(RECEIPT, F.RECEIPT_TRANSACTION_HASH), getHash(index), 68)) return false;
  if (!isKept(RECEIPT, F.RECEIPT_TRANSACTION_INDEX, index, INDEX)) return false;
  if (!isKept(RECEIPT, F.RECEIPT_TYPE, index, TYPE)) return false;
  if (!same(valueAt(RECEIPT, F.RECEIPT_FROM), getSender(index), 44)) return false;
  const to = getRecipient(index);
  return to === 0 ? isNull(RECEIPT, F.RECEIPT_TO) : isText(RECEIPT, F.RECEIPT_TO, to, 44);
}

/** Whether it was paid what follows, or at least no more than was offered, and blobs use what they do (check-price.ts). */
function hasPrices(index: u32): bool {
  if (has(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE) && textAt(index, PRICE) !== 0) {
    if (checks(CHECK_PRICES)) {
      if (!isKept(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE, index, PRICE)) return false;
    } else if (!isDeposit(index)) {
      const paid = getNumber(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE);
      if (paid === LARGE || paid > getOffer(index)) return false;
    }
  }
  if (!checks(CHECK_SUMS) || getKind(index) !== 3 || !has(RECEIPT, F.RECEIPT_BLOB_GAS_USED)) return true;
  return getNumber(RECEIPT, F.RECEIPT_BLOB_GAS_USED) === GAS_PER_BLOB * <u64>countBlobs(index);
}

/** Numbers from here on are no longer exact in JavaScript. */
const EXACT: u64 = 1 << 53;

/** Gas used up to and with this receipt; LARGE if it does not add up, as checkGas has it. */
function gasAfter(index: u32, before: u64): u64 {
  const used = getNumber(RECEIPT, F.RECEIPT_GAS_USED);
  const total = getNumber(RECEIPT, F.RECEIPT_CUMULATIVE_GAS_USED);
  if (used >= EXACT || total >= EXACT) return LARGE;
  const exact = checks(CHECK_SUMS) && !(isDeposit(index) && !has(RECEIPT, F.RECEIPT_DEPOSIT_NONCE));
  return (exact ? total === before + used : total >= before) ? total : LARGE;
}

/** Whether it has the state root from before Byzantium (EIP-658) instead of the status. */
function hasRoot(): bool {
  return has(RECEIPT, F.RECEIPT_ROOT) && getDigits(RECEIPT, F.RECEIPT_ROOT) === 64;
}

/** Whether it says how it ended: by a root, or by a status beside which the root may be empty. Of both one is not proved. */
function hasEnd(): bool {
  if (hasRoot()) return lacks(RECEIPT, F.RECEIPT_STATUS);
  if (has(RECEIPT, F.RECEIPT_ROOT) && getDigits(RECEIPT, F.RECEIPT_ROOT) !== 0) return false;
  return !lacks(RECEIPT, F.RECEIPT_STATUS) && getNumber(RECEIPT, F.RECEIPT_STATUS) <= 1;
}

const DECODED: usize = memory.data(288, 16);

/** Writes its RLP, and compares its bloom. */
function encode(index: u32): bool {
  const payload = beginItem();
  if (hasRoot()) {
    putData(digitsAt(RECEIPT, F.RECEIPT_ROOT), 64);
  } else {
    putQuantity(digitsAt(RECEIPT, F.RECEIPT_STATUS), 1);
  }
  putNumber(RECEIPT, F.RECEIPT_CUMULATIVE_GAS_USED);
  putData(digitsAt(RECEIPT, F.RECEIPT_LOGS_BLOOM), 512);
  openBloom();
  putLogs();
  if (isDeposit(index) && has(RECEIPT, F.RECEIPT_DEPOSIT_RECEIPT_VERSION)) {
    if (has(RECEIPT, F.RECEIPT_DEPOSIT_NONCE)) putNumber(RECEIPT, F.RECEIPT_DEPOSIT_NONCE);
    else putEmpty();
    putNumber(RECEIPT, F.RECEIPT_DEPOSIT_RECEIPT_VERSION);
  }
  unhex(digitsAt(RECEIPT, F.RECEIPT_LOGS_BLOOM), 512, DECODED);
  if (!same(DECODED, BLOOM, 256)) return false;
  orBloom(BLOCK_BLOOM);
  return endItem(payload, getKind(index));
}

/** RLP of sender and nonce: at most 2 + 21 + 33 bytes; and the hash of it, and the address that is given. */
const CREATION: usize = memory.data(160, 16);
const CREATION_HASH: usize = CREATION + 80;
const GIVEN: usize = CREATION + 112;

/** Whether the address of a new contract follows from sender and nonce (Yellow Paper, section 7), as checkContract has it. */
function isContract(index: u32): bool {
  const given = !isNull(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS);
  if (getRecipient(index) !== 0) return !given;
  if (!checks(CHECK_ADDRESSES)) return true;
  if (!given && (hasRoot() || getNumber(RECEIPT, F.RECEIPT_STATUS) === 0)) return true;
  let nonce: u64 = 0;
  if (isDeposit(index)) {
    if (!has(RECEIPT, F.RECEIPT_DEPOSIT_NONCE)) return true;
    nonce = getNumber(RECEIPT, F.RECEIPT_DEPOSIT_NONCE);
  } else {
    if (textAt(index, NONCE) === 0) return true;
    nonce = hexNumber(textAt(index, NONCE) + 3, textLength(index, NONCE) - 4);
  }
  if (nonce === LARGE || !given) return false;
  let at = CREATION + 1;
  store<u8>(at++, 0x94);
  at = unhex(getSender(index) + 3, 40, at);
  if (nonce === 0) {
    store<u8>(at++, 0x80);
  } else if (nonce < 0x80) {
    store<u8>(at++, <u8>nonce);
  } else {
    let bytes: u32 = 1;
    while (bytes < 8 && nonce >> ((<u64>bytes) << 3) !== 0) bytes++;
    store<u8>(at++, 0x80 + bytes);
    while (bytes-- > 0) store<u8>(at++, <u8>(nonce >> ((<u64>bytes) << 3)));
  }
  store<u8>(CREATION, 0xc0 + <u32>(at - CREATION - 1));
  keccak(CREATION, at - CREATION, CREATION_HASH);
  unhex(digitsAt(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS), 40, GIVEN);
  return same(CREATION_HASH + 12, GIVEN, 20);
}

function keep(index: u32): void {
  const at = kept + KEPT * <usize>index;
  const created = isNull(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS)
    ? 0
    : <u32>valueAt(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS);
  store<u32>(at, created);
  store<u32>(at, hasRoot() ? 2 : <u32>getNumber(RECEIPT, F.RECEIPT_STATUS), 4);
  store<u32>(at, firstLog(), 8);
  store<u32>(at, logCount(), 12);
}
