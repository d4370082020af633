/*
 * The traces of a block, as trace_block gives them: canonical text, and the checks of src/prove/trace-prover.ts: one tree for
 * each transaction, in their order, whose root is that transaction; rewards behind them.
 */
import { CHECK_RECEIPTS_GIVEN } from '../../src/layout';
import { checks, DECIMAL, HASH, wrote } from './block';
import { beginTree, getCaller, isTreeWhole, pushTrace } from './call-tree';
import { beginCalls, isEachCalled, noteCalled } from './callers';
import * as F from './fields';
import { region } from './memory';
import { readObject } from './object';
import { createdBy, getSuccess } from './receipts';
import {
  ACTION_SLOTS as ACTION,
  getLength,
  has,
  isFact,
  isNull,
  isText,
  lacks,
  RESULT_SLOTS as RESULT,
  set,
  TRACE_SLOTS as TRACE,
  unset,
  valueAt,
} from './slots';
import { CLOSE_LIST, COMMA, decimalNumber, OPEN_LIST, same } from './text';
import {
  getHash,
  getRecipient,
  getSender,
  INPUT,
  isDeposit,
  isKept,
  transactionCount,
  VALUE,
} from './transactions';
import { writeObject } from './write';

/** `"call"`, `"create"`, `"suicide"`, `"reward"`. */
const CALL: usize = memory.data<u8>([34, 99, 97, 108, 108, 34]);
const CREATE: usize = memory.data<u8>([34, 99, 114, 101, 97, 116, 101, 34]);
const SUICIDE: usize = memory.data<u8>([34, 115, 117, 105, 99, 105, 100, 101, 34]);
/** The newer name of the same; one is written, as src/record/trace.ts does. */
const SELFDESTRUCT: usize = memory.data<u8>([
  34, 115, 101, 108, 102, 100, 101, 115, 116, 114, 117, 99, 116, 34,
]);
const REWARD: usize = memory.data<u8>([34, 114, 101, 119, 97, 114, 100, 34]);
/** Types of calls that run the code of another account as the caller's: `"delegatecall"`, `"callcode"`. */
const DELEGATE_CALL: usize = memory.data<u8>([
  34, 100, 101, 108, 101, 103, 97, 116, 101, 99, 97, 108, 108, 34,
]);
const CALL_CODE: usize = memory.data<u8>([34, 99, 97, 108, 108, 99, 111, 100, 101, 34]);
/** Errors whose results are kept, `"Reverted"`, and what other nodes call them; the prover knows the rarer ones. */
const REVERTED: usize = memory.data<u8>([34, 82, 101, 118, 101, 114, 116, 101, 100, 34]);
const EXECUTION_REVERTED: usize = memory.data<u8>([
  34, 101, 120, 101, 99, 117, 116, 105, 111, 110, 32, 114, 101, 118, 101, 114, 116, 101, 100, 34,
]);
/** `"Out of gas"`, `"out of gas"`. */
const OUT_OF_GAS: usize = memory.data<u8>([34, 79, 117, 116, 32, 111, 102, 32, 103, 97, 115, 34]);
const LOWER_OUT_OF_GAS: usize = memory.data<u8>([34, 111, 117, 116, 32, 111, 102, 32, 103, 97, 115, 34]);

/** An address with its quotes, a hash with its quotes. */
const ADDRESS_LENGTH: usize = 44;
const HASH_LENGTH: usize = 68;

/** Transaction whose tree is being read; -1 before the first. */
let position: i32 = -1;
let rewards: bool = false;

/** Where the texts of an action and of a result are made before they are written into that of their trace. */
let scratch: usize = 0;
let scratchEnd: usize = 0;

/** Scans the array of traces at `p`, which has `length` bytes, after transactions and receipts. Returns 1, or 0 if it is declined. */
export function traces(p: usize, length: usize): u32 {
  const answerEnd = p + length;
  const textBytes = length + 64;
  let to = region(textBytes);
  const end = to + textBytes;
  scratch = region(2 * length + 256);
  scratchEnd = scratch + 2 * length + 256;
  if (to === 0 || scratch === 0) return 0;
  const start = to;
  position = -1;
  rewards = false;
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  store<u8>(to++, OPEN_LIST);
  if (<u32>load<u8>(p) === CLOSE_LIST) {
    store<u8>(to++, CLOSE_LIST);
    p++;
  } else {
    while (true) {
      p = readObject(p, F.TRACE, TRACE);
      if (p === 0 || !isComplete()) return 0;
      const type = getType();
      if (type === 0 || !writeParts(type)) return 0;
      to = writeObject(to, end, type === F.REWARD ? F.TRACE_REWARD : F.TRACE, TRACE);
      if (to === 0 || !isOfBlock()) return 0;
      if (type === F.REWARD ? !isReward() : !isOfTransaction(type)) return 0;
      const byte = <u32>load<u8>(p++);
      store<u8>(to++, byte);
      if (byte === CLOSE_LIST) break;
      if (byte !== COMMA) return 0;
    }
  }
  // Nothing may follow the list.
  if (p !== answerEnd) return 0;
  if (!rewards && !isEnd()) return 0;
  wrote(3, start, to);
  return 1;
}

/** Whether the fields are there that are looked at before the order is. */
function isComplete(): bool {
  const mask = load<u64>(TRACE);
  const needed: u64 =
    ((<u64>1) << F.TRACE_TYPE) | ((<u64>1) << F.TRACE_ACTION) | ((<u64>1) << F.TRACE_TRACE_ADDRESS);
  return (mask & needed) === needed;
}

/** The order of a trace's action by its type; 0 for other types. */
function getType(): u32 {
  if (isText(TRACE, F.TRACE_TYPE, CALL, 6)) return F.CALL;
  if (isText(TRACE, F.TRACE_TYPE, CREATE, 8)) return F.CREATE;
  if (isText(TRACE, F.TRACE_TYPE, SUICIDE, 9)) return F.SUICIDE;
  if (isText(TRACE, F.TRACE_TYPE, REWARD, 8)) return F.REWARD;
  if (!isText(TRACE, F.TRACE_TYPE, SELFDESTRUCT, 14)) return 0;
  set(TRACE, F.TRACE_TYPE, SUICIDE, 9);
  return F.SUICIDE;
}

/** Writes the texts of action and result, and puts them in the places of what the answer has. */
function writeParts(type: u32): bool {
  let at = scratch;
  let end = writeObject(at, scratchEnd, type, ACTION);
  if (end === 0) return false;
  set(TRACE, F.TRACE_ACTION, at, end - at);
  const failed = !lacks(TRACE, F.TRACE_ERROR);
  if (type === F.SUICIDE || type === F.REWARD)
    return !has(TRACE, F.TRACE_RESULT) || isNull(TRACE, F.TRACE_RESULT);
  if (failed) normalizeError();
  if (!has(TRACE, F.TRACE_RESULT)) return failed;
  const isKept = !failed || isText(TRACE, F.TRACE_ERROR, REVERTED, 10);
  if (isNull(TRACE, F.TRACE_RESULT)) {
    if (!isKept) unset(TRACE, F.TRACE_RESULT);
    return failed;
  }
  if (failed && isKept) normalizeUndone();
  at = end;
  end = writeObject(
    at,
    scratchEnd,
    failed ? F.FAILED_RESULT : type === F.CALL ? F.CALL_RESULT : F.CREATE_RESULT,
    RESULT,
  );
  if (end === 0) return false;
  if (isKept) set(TRACE, F.TRACE_RESULT, at, end - at);
  else unset(TRACE, F.TRACE_RESULT);
  return true;
}

/** Gives what an undone creation returned the name that it has for a call, and leaves out the address of nothing. */
function normalizeUndone(): void {
  unset(RESULT, F.RESULT_ADDRESS);
  if (!has(RESULT, F.RESULT_CODE)) return;
  if (!has(RESULT, F.RESULT_OUTPUT)) {
    set(RESULT, F.RESULT_OUTPUT, valueAt(RESULT, F.RESULT_CODE), getLength(RESULT, F.RESULT_CODE));
  }
  unset(RESULT, F.RESULT_CODE);
}

/** Gives the error one of its frequent names. */
function normalizeError(): void {
  if (isText(TRACE, F.TRACE_ERROR, EXECUTION_REVERTED, 20)) set(TRACE, F.TRACE_ERROR, REVERTED, 10);
  if (isText(TRACE, F.TRACE_ERROR, LOWER_OUT_OF_GAS, 12)) set(TRACE, F.TRACE_ERROR, OUT_OF_GAS, 12);
}

function isOfBlock(): bool {
  return (
    same(valueAt(TRACE, F.TRACE_BLOCK_HASH), HASH, HASH_LENGTH) &&
    isFact(TRACE, F.TRACE_BLOCK_NUMBER, DECIMAL)
  );
}

function isRoot(): bool {
  return getLength(TRACE, F.TRACE_TRACE_ADDRESS) === 2;
}

function toNumber(field: u32): u64 {
  const at = valueAt(TRACE, field);
  return decimalNumber(at, at + getLength(TRACE, field));
}

/** A reward stands alone, behind all transactions. */
function isReward(): bool {
  if (!rewards && !isEnd()) return false;
  rewards = true;
  if (has(TRACE, F.TRACE_TRANSACTION_HASH) && !isNull(TRACE, F.TRACE_TRANSACTION_HASH)) return false;
  if (has(TRACE, F.TRACE_TRANSACTION_POSITION) && !isNull(TRACE, F.TRACE_TRANSACTION_POSITION)) return false;
  return isRoot() && toNumber(F.TRACE_SUBTRACES) === 0;
}

/** Whether the tree before is whole, and who logged was called. */
function isTransactionEnd(): bool {
  return position < 0 || (isTreeWhole() && isEachCalled());
}

function isEnd(): bool {
  return isTransactionEnd() && position + 1 === <i32>transactionCount();
}

function isOfTransaction(type: u32): bool {
  if (rewards) return false;
  if (isNull(TRACE, F.TRACE_TRANSACTION_POSITION)) return false;
  const which = toNumber(F.TRACE_TRANSACTION_POSITION);
  if (isRoot()) {
    if (!isTransactionEnd() || which !== <u64>(position + 1) || which >= <u64>transactionCount())
      return false;
    position++;
    if (!isHash() || !isRootOfType(type) || !beginCalls(<u32>position)) return false;
    return beginTree(toNumber(F.TRACE_SUBTRACES), noteContext(type));
  }
  if (which !== <u64>position || position < 0 || !isHash()) return false;
  const executes = noteContext(type);
  if (!pushTrace(valueAt(TRACE, F.TRACE_TRACE_ADDRESS), toNumber(F.TRACE_SUBTRACES), executes)) return false;
  return type !== F.SUICIDE || isOfCaller();
}

/** Whether who destroys itself is who executes above. */
function isOfCaller(): bool {
  const caller = getCaller();
  return caller === 0 || same(valueAt(ACTION, F.ACTION_ADDRESS) + 3, caller, ADDRESS_LENGTH - 4);
}

function isHash(): bool {
  return same(valueAt(TRACE, F.TRACE_TRANSACTION_HASH), getHash(<u32>position), HASH_LENGTH);
}

/**
 * Notes the account as which the trace ran: that of a contract with borrowed code is the caller. Returns the address of its
 * digits, 0 if it is not known.
 */
function noteContext(type: u32): usize {
  let digits: usize = 0;
  if (type === F.CALL) {
    digits = valueAt(ACTION, isBorrowing() ? F.ACTION_FROM : F.ACTION_TO) + 3;
  } else if (type === F.CREATE && lacks(TRACE, F.TRACE_ERROR)) {
    digits = valueAt(RESULT, F.RESULT_ADDRESS) + 3;
  }
  if (digits !== 0) noteCalled(digits);
  return digits;
}

function isBorrowing(): bool {
  return (
    isText(ACTION, F.ACTION_CALL_TYPE, DELEGATE_CALL, 14) || isText(ACTION, F.ACTION_CALL_TYPE, CALL_CODE, 10)
  );
}

/** Whether the root of a tree is its transaction. */
function isRootOfType(type: u32): bool {
  const tx = <u32>position;
  const to = getRecipient(tx);
  if (type !== (to === 0 ? F.CREATE : F.CALL)) return false;
  if (!isText(ACTION, F.ACTION_FROM, getSender(tx), ADDRESS_LENGTH)) return false;
  if (to !== 0 && !isText(ACTION, F.ACTION_TO, to, ADDRESS_LENGTH)) return false;
  if (!isKept(ACTION, F.ACTION_VALUE, tx, VALUE)) return false;
  if (!isKept(ACTION, to === 0 ? F.ACTION_INIT : F.ACTION_INPUT, tx, INPUT)) return false;
  if (!checks(CHECK_RECEIPTS_GIVEN)) return true;
  const failed = !lacks(TRACE, F.TRACE_ERROR);
  const success = getSuccess(tx);
  // A deposit that fails before its first instruction has a failed receipt, and no frame that could have failed.
  if (success !== 2 && failed === (success === 1) && !(isDeposit(tx) && success === 0)) return false;
  const created = createdBy(tx);
  return to !== 0 || failed || created === 0 || isText(RESULT, F.RESULT_ADDRESS, created, ADDRESS_LENGTH);
}
