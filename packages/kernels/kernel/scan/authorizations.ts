/* The authorization list of a transaction (EIP-7702). */

import { beginList, endList } from '../shared/rlp.js';
import * as F from './fields';
import { readObject } from './object.js';
import { ENTRY_SLOTS, pad, putBytes, putNumber } from './slots.js';
import { CLOSE_LIST, COMMA, OPEN_LIST } from './text.js';
import { writeObject } from './write.js';

let written: usize = 0;
let writtenEnd: usize = 0;
/** Where `authorizations` wrote the canonical text, and its length. */
export function authorizationsFrom(): usize {
  return written;
}
export function authorizationsLength(): usize {
  return writtenEnd - written;
}

/** Bytes of an entry in canonical form, at most. */
const ENTRY_BYTES: usize = 512;

/** An authorization list; its canonical text is written anew, as nodes have other orders. */
export function authorizations(p: usize): usize {
  written = pad(2);
  writtenEnd = written;
  if (written === 0 || <u32>load<u8>(p++) !== OPEN_LIST) return 0;
  store<u8>(writtenEnd++, OPEN_LIST);
  if (<u32>load<u8>(p) === CLOSE_LIST) {
    store<u8>(writtenEnd++, CLOSE_LIST);
    return p + 1;
  }
  while (true) {
    p = readObject(p, F.AUTHORIZATION, ENTRY_SLOTS);
    // Pads follow each other: each is room behind what was written.
    if (p === 0 || pad(ENTRY_BYTES) === 0) return 0;
    writtenEnd = writeObject(writtenEnd, writtenEnd + ENTRY_BYTES, F.AUTHORIZATION, ENTRY_SLOTS);
    if (writtenEnd === 0) return 0;
    const byte = <u32>load<u8>(p++);
    store<u8>(writtenEnd++, byte);
    if (byte === CLOSE_LIST) return p;
    if (byte !== COMMA) return 0;
  }
}

/** Puts an authorization list in canonical form into the RLP of its transaction. */
export function putAuthorizations(p: usize): void {
  const list = beginList();
  p++;
  while (<u32>load<u8>(p) !== CLOSE_LIST) {
    if (<u32>load<u8>(p) === COMMA) p++;
    p = readObject(p, F.AUTHORIZATION, ENTRY_SLOTS);
    if (p === 0) return;
    const entry = beginList();
    putNumber(ENTRY_SLOTS, F.AUTHORIZATION_CHAIN_ID);
    putBytes(ENTRY_SLOTS, F.AUTHORIZATION_ADDRESS);
    putNumber(ENTRY_SLOTS, F.AUTHORIZATION_NONCE);
    putNumber(ENTRY_SLOTS, F.AUTHORIZATION_Y_PARITY);
    putNumber(ENTRY_SLOTS, F.AUTHORIZATION_R);
    putNumber(ENTRY_SLOTS, F.AUTHORIZATION_S);
    endList(entry);
  }
  endList(list);
}
