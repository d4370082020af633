/* Who logged in a transaction and was not called yet, as `uncalled` of src/prove/trace-prover.ts. */
import { CHECK_AMSTERDAM, CHECK_LOG_CALLS } from '../../src/layout.js';
import { checks } from './block.js';
import { getLogger } from './logs.js';
import { getFirstLog, getLastLog } from './receipts.js';
import { same } from './text.js';

/** An address in hex digits. */
const DIGITS: usize = 40;
/** More accounts than that log in no usual transaction; it is declined. */
const MOST: u32 = 1_024;
const UNCALLED: usize = memory.data(4_096, 16);
/** 0x…1010 of Polygon, and 0xffff…fffe of transfers since Amsterdam (EIP-7708): no call makes their logs. */
const COIN_OF_POLYGON: usize = memory.data<u8>([
  48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48,
  48, 48, 48, 48, 48, 48, 48, 48, 48, 49, 48, 49, 48,
]);
const SYSTEM: usize = memory.data<u8>([
  102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102,
  102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 102, 101,
]);

let count: u32 = 0;

function at(place: u32): usize {
  return <usize>load<u32>(UNCALLED + 4 * <usize>place);
}

/** Begins the traces of a transaction. Returns false if too many accounts logged in it. */
export function beginCalls(transaction: u32): bool {
  count = 0;
  if (!checks(CHECK_LOG_CALLS)) return true;
  const last = getLastLog(transaction);
  for (let log = getFirstLog(transaction); log < last; log++) {
    const address = getLogger(log);
    if (isKnown(address) || same(address, COIN_OF_POLYGON, DIGITS)) continue;
    if (checks(CHECK_AMSTERDAM) && same(address, SYSTEM, DIGITS)) continue;
    if (count === MOST) return false;
    store<u32>(UNCALLED + 4 * <usize>count, <u32>address);
    count++;
  }
  return true;
}

function isKnown(address: usize): bool {
  for (let place: u32 = 0; place < count; place++) if (same(at(place), address, DIGITS)) return true;
  return false;
}

/** Notes that the account with these digits was called. */
export function noteCalled(address: usize): void {
  for (let place: u32 = 0; place < count; place++) {
    if (!same(at(place), address, DIGITS)) continue;
    count--;
    store<u32>(UNCALLED + 4 * <usize>place, load<u32>(UNCALLED + 4 * <usize>count));
    return;
  }
}

export function isEachCalled(): bool {
  return count === 0;
}
