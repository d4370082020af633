/*
 * The receipts of a block: canonical text with that of their logs, blooms, root, and the checks of
 * src/prove/prove-receipts.ts and check-receipt.ts.
 */
import {
  ADDRESSES,
  BLOCK_BLOOM,
  checks,
  HASH,
  numberAt,
  numberLength,
  PRICES,
  RECEIPTS_ROOT,
  SUMS,
  usedGas,
  wrote,
} from './block';
import { BLOOM, openBloom, orBloom } from './bloom';
import * as F from './fields';
import { unhex } from './hex';
import { keccak } from './keccak';
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
import { beginItem, endItem, openRlp, putData, putEmpty, putQuantity } from './rlp';
import {
  digitsAt,
  digitsOf,
  has,
  isNull,
  isText,
  lacks,
  lengthOf,
  pad,
  RECEIPT_SLOTS as RECEIPT,
  set,
  valueAt,
} from './slots';
import { CLOSE_LIST, COMMA, hexNumber, LARGE, OPEN_LIST, same, writeQuantity } from './text';
import {
  blobsOf,
  hashOf,
  indexAt,
  indexLength,
  isDeposit,
  kindOf,
  nonceAt,
  nonceLength,
  priceAt,
  priceLength,
  recipientOf,
  senderOf,
  transactionCount,
  typeAt,
  typeLength,
} from './transactions';
import { trieRoot } from './trie';
import { writeObject } from './write';

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
export function successOf(transaction: u32): u32 {
  return load<u32>(kept + KEPT * <usize>transaction, 4);
}
export function firstLogOf(transaction: u32): u32 {
  return load<u32>(kept + KEPT * <usize>transaction, 8);
}
export function lastLogOf(transaction: u32): u32 {
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
      if (p === 0 || !readLogs() || !complete(index)) return 0;
      to = writeObject(to, end, F.RECEIPT, RECEIPT);
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
  usedGas(gas);
  wrote(1, start, to);
  wrote(2, logs, closeLogs());
  return 1;
}

/** Reads the logs, and puts their canonical text in their place. */
function readLogs(): bool {
  if (!has(RECEIPT, F.RECEIPT_LOGS)) return false;
  const at = valueAt(RECEIPT, F.RECEIPT_LOGS);
  if (logList(at) !== at + lengthOf(RECEIPT, F.RECEIPT_LOGS)) return false;
  set(RECEIPT, F.RECEIPT_LOGS, logsFrom(), logsLength());
  return true;
}

/** Whether it has an address of zeros: the first generation of the OP stack writes that instead of no contract. */
function hasZeros(): bool {
  if (lacks(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS)) return false;
  const at = digitsAt(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS);
  for (let i: usize = 0; i < 40; i++) if (load<u8>(at + i) !== 0x30) return false;
  return true;
}

/** Fills in what repeats the transaction or follows from it, as src/prove/complete.ts. */
function complete(index: u32): bool {
  const to = recipientOf(index);
  if (!has(RECEIPT, F.RECEIPT_FROM)) {
    set(RECEIPT, F.RECEIPT_FROM, senderOf(index), 44);
    if (to !== 0 && hasZeros()) set(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS, NULL, 4);
  }
  if (!has(RECEIPT, F.RECEIPT_TO)) set(RECEIPT, F.RECEIPT_TO, to === 0 ? NULL : to, to === 0 ? 4 : 44);
  if (!has(RECEIPT, F.RECEIPT_TYPE)) set(RECEIPT, F.RECEIPT_TYPE, typeAt(index), typeLength(index));
  if (isDeposit(index) || !checks(PRICES)) return true;
  if (!has(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE) && priceAt(index) !== 0) {
    set(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE, priceAt(index), priceLength(index));
  }
  if (kindOf(index) === 3 && !has(RECEIPT, F.RECEIPT_BLOB_GAS_USED)) {
    const at = pad(24);
    if (at === 0) return false;
    set(RECEIPT, F.RECEIPT_BLOB_GAS_USED, at, writeQuantity(GAS_PER_BLOB * <u64>blobsOf(index), at));
  }
  return true;
}

/** Whether the fields that repeat the block's and the transaction's are the same. */
function isOfTransaction(index: u32): bool {
  if (!same(valueAt(RECEIPT, F.RECEIPT_BLOCK_HASH), HASH, 68)) return false;
  if (!isText(RECEIPT, F.RECEIPT_BLOCK_NUMBER, numberAt(), numberLength())) return false;
  if (!same(valueAt(RECEIPT, F.RECEIPT_TRANSACTION_HASH), hashOf(index), 68)) return false;
  if (!isText(RECEIPT, F.RECEIPT_TRANSACTION_INDEX, indexAt(index), indexLength(index))) return false;
  if (!isText(RECEIPT, F.RECEIPT_TYPE, typeAt(index), typeLength(index))) return false;
  if (!same(valueAt(RECEIPT, F.RECEIPT_FROM), senderOf(index), 44)) return false;
  const to = recipientOf(index);
  return to === 0 ? isNull(RECEIPT, F.RECEIPT_TO) : isText(RECEIPT, F.RECEIPT_TO, to, 44);
}

function hasPrices(index: u32): bool {
  if (!checks(PRICES)) return true;
  if (has(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE) && priceAt(index) !== 0) {
    if (!isText(RECEIPT, F.RECEIPT_EFFECTIVE_GAS_PRICE, priceAt(index), priceLength(index))) return false;
  }
  if (kindOf(index) !== 3 || !has(RECEIPT, F.RECEIPT_BLOB_GAS_USED)) return true;
  return number(F.RECEIPT_BLOB_GAS_USED) === GAS_PER_BLOB * <u64>blobsOf(index);
}

function number(field: u32): u64 {
  return hexNumber(digitsAt(RECEIPT, field), digitsOf(RECEIPT, field));
}

/** Numbers from here on are no longer exact in JavaScript. */
const EXACT: u64 = 1 << 53;

/** Gas used up to and with this receipt; LARGE if it does not add up, as checkGas has it. */
function gasAfter(index: u32, before: u64): u64 {
  const used = number(F.RECEIPT_GAS_USED);
  const total = number(F.RECEIPT_CUMULATIVE_GAS_USED);
  if (used >= EXACT || total >= EXACT) return LARGE;
  const exact = checks(SUMS) && !(isDeposit(index) && !has(RECEIPT, F.RECEIPT_DEPOSIT_NONCE));
  return (exact ? total === before + used : total >= before) ? total : LARGE;
}

/** Whether it has the state root from before Byzantium (EIP-658) instead of the status. */
function hasRoot(): bool {
  return has(RECEIPT, F.RECEIPT_ROOT) && digitsOf(RECEIPT, F.RECEIPT_ROOT) === 64;
}

/** Whether it says how it ended: by a root, or by a status beside which the root may be empty. */
function hasEnd(): bool {
  if (hasRoot()) return true;
  if (has(RECEIPT, F.RECEIPT_ROOT) && digitsOf(RECEIPT, F.RECEIPT_ROOT) !== 0) return false;
  return !lacks(RECEIPT, F.RECEIPT_STATUS) && number(F.RECEIPT_STATUS) <= 1;
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
  putNumber(F.RECEIPT_CUMULATIVE_GAS_USED);
  putData(digitsAt(RECEIPT, F.RECEIPT_LOGS_BLOOM), 512);
  openBloom();
  putLogs();
  if (isDeposit(index) && has(RECEIPT, F.RECEIPT_DEPOSIT_RECEIPT_VERSION)) {
    if (has(RECEIPT, F.RECEIPT_DEPOSIT_NONCE)) putNumber(F.RECEIPT_DEPOSIT_NONCE);
    else putEmpty();
    putNumber(F.RECEIPT_DEPOSIT_RECEIPT_VERSION);
  }
  unhex(digitsAt(RECEIPT, F.RECEIPT_LOGS_BLOOM), 512, DECODED);
  if (!same(DECODED, BLOOM, 256)) return false;
  orBloom(BLOCK_BLOOM);
  return endItem(payload, kindOf(index));
}

function putNumber(field: u32): void {
  putQuantity(digitsAt(RECEIPT, field), digitsOf(RECEIPT, field));
}

/** RLP of sender and nonce: at most 2 + 21 + 33 bytes; and the hash of it, and the address that is given. */
const CREATION: usize = memory.data(160, 16);
const CREATION_HASH: usize = CREATION + 80;
const GIVEN: usize = CREATION + 112;

/** Whether the address of a new contract follows from sender and nonce (Yellow Paper, section 7), as checkContract has it. */
function isContract(index: u32): bool {
  if (!checks(ADDRESSES)) return true;
  const given = !isNull(RECEIPT, F.RECEIPT_CONTRACT_ADDRESS);
  if (recipientOf(index) !== 0) return !given;
  if (!given && (hasRoot() || number(F.RECEIPT_STATUS) === 0)) return true;
  let nonce: u64 = 0;
  if (isDeposit(index)) {
    if (!has(RECEIPT, F.RECEIPT_DEPOSIT_NONCE)) return true;
    nonce = number(F.RECEIPT_DEPOSIT_NONCE);
  } else {
    if (nonceAt(index) === 0) return true;
    nonce = hexNumber(nonceAt(index) + 3, nonceLength(index) - 4);
  }
  if (nonce === LARGE || !given) return false;
  let at = CREATION + 1;
  store<u8>(at++, 0x94);
  at = unhex(senderOf(index) + 3, 40, at);
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
  store<u32>(at, hasRoot() ? 2 : <u32>number(F.RECEIPT_STATUS), 4);
  store<u32>(at, firstLog(), 8);
  store<u32>(at, logCount(), 12);
}
