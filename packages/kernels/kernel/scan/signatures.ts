/*
 * What the senders of transactions are recovered from: a row of SIGNATURE_BYTES for each that somebody signed. The curve's
 * arithmetic is done elsewhere, by native code, many rows at a time.
 */
import * as L from '../../src/layout';
import { nibble, unhex } from '../shared/hex.js';
import { hashUnfinished, position, putEmpty, putQuantity, rewind } from '../shared/rlp.js';
import { CHAIN_ID, chain, checks, signedRows } from './block.js';
import * as F from './fields';
import { region } from './memory.js';
import { digitsAt, getDigits, getNumber, isZero, TRANSACTION_SLOTS as TX } from './slots.js';

let first: usize = 0;
let next: usize = 0;
let limit: usize = 0;

/** Makes room for so many rows. Returns false if there is none. */
export function openSignatures(most: u32): bool {
  const bytes = checks(L.CHECK_SENDERS) ? <usize>most * L.SIGNATURE_BYTES : 0;
  first = region(bytes);
  next = first;
  limit = first + bytes;
  return first !== 0;
}

export function closeSignatures(): void {
  signedRows(first, next);
}

/**
 * Adds the row of the transaction in the slots, of whose RLP all is written from `payload` on but its signature. The
 * message is keccak of that, of a legacy transaction that is bound to its chain with the chain behind it (EIP-155).
 */
export function addSignature(kind: u32, payload: usize, place: u32): bool {
  if (!checks(L.CHECK_SENDERS) || isUnsigned()) return true;
  if (next + L.SIGNATURE_BYTES > limit) return false;
  const v = getNumber(TX, F.TX_V);
  const unsigned = position();
  const bound = kind === 0 && v >= 35;
  if (bound) {
    // Its digits are within `"0x…"`.
    putQuantity(CHAIN_ID + 7, <usize>load<u32>(CHAIN_ID) - 4);
    putEmpty();
    putEmpty();
  }
  if (!hashUnfinished(payload, kind, next)) return false;
  rewind(unsigned);
  if (!putWord(F.TX_R, next + L.SIGNATURE_R) || !putWord(F.TX_S, next + L.SIGNATURE_S)) return false;
  unhex(digitsAt(TX, F.TX_FROM), 40, next + L.SIGNATURE_FROM);
  const parity = kind !== 0 ? v : bound ? v - 35 - 2 * chain() : v - 27;
  // With the four bytes behind it.
  store<u64>(next, parity > 1 ? L.NO_PARITY : parity, L.SIGNATURE_PARITY);
  store<u32>(next, place, L.SIGNATURE_PLACE);
  next += L.SIGNATURE_BYTES;
  return true;
}

/** Whether the signature of the transaction in the slots is all zeros: a system made it. */
function isUnsigned(): bool {
  return isZero(TX, F.TX_R) && isZero(TX, F.TX_S);
}

/** Writes 32 bytes of a number of any count of digits; false if it has more. */
function putWord(field: u32, to: usize): bool {
  let at = digitsAt(TX, field);
  let digits = getDigits(TX, field);
  for (; digits > 64 && load<u8>(at) === 0x30; digits--) at++;
  if (digits > 64) return false;
  memory.fill(to, 0, 32);
  let out = to + 32 - ((digits + 1) >> 1);
  if ((digits & 1) === 1) {
    store<u8>(out++, nibble(load<u8>(at++)));
    digits--;
  }
  unhex(at, digits, out);
  return true;
}
