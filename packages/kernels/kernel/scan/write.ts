/*
 * Canonical texts: the fields of slots in one of the orders of the tables.
 */
import * as L from '../../src/layout';
import { getOrder } from './fields.js';
import { getLength, isNull, unset, valueAt } from './slots.js';
import { CLOSE_LIST, CLOSE_OBJECT, copy, OPEN_LIST, OPEN_OBJECT } from './text.js';

/** What a copy may overwrite behind its end. */
const BEHIND: usize = 48;

/** Drops the fields that the order does not allow if they say nothing: null, and empty lists. */
export function dropNoise(order: u32, slots: usize): void {
  let strange = load<u64>(slots) & ~load<u64>(getOrder(order), L.ORDER_ALLOWED);
  while (strange !== 0) {
    const field = <u32>ctz(strange);
    strange &= strange - 1;
    const at = valueAt(slots, field);
    const isEmpty = <u32>load<u8>(at) === OPEN_LIST && <u32>load<u8>(at, 1) === CLOSE_LIST;
    if (isEmpty || isNull(slots, field)) unset(slots, field);
  }
}

/**
 * Writes an object to `to`; all of it stays before `end`. Returns the address behind it, or 0 if a required field is absent,
 * one is there that is not allowed, or there is no room.
 */
export function writeObject(to: usize, end: usize, order: u32, slots: usize): usize {
  let step = getOrder(order);
  const mask = load<u64>(slots);
  const required = load<u64>(step);
  if ((mask & required) !== required || (mask & ~load<u64>(step, L.ORDER_ALLOWED)) !== 0) return 0;
  const start = to;
  const last = step + L.ORDER_HEAD + <usize>load<u32>(step, L.ORDER_COUNT) * L.STEP_BYTES;
  for (step += L.ORDER_HEAD; step < last; step += L.STEP_BYTES) {
    const field = load<u32>(step);
    if ((mask & ((<u64>1) << field)) === 0) continue;
    const head = <usize>load<u32>(step, L.STEP_LENGTH);
    const length = getLength(slots, field);
    if (to + head + length + BEHIND > end) return 0;
    const name = <usize>load<u32>(step, L.STEP_LITERAL);
    v128.store(to, v128.load(name));
    v128.store(to + 16, v128.load(name, 16));
    to += head;
    copy(to, valueAt(slots, field), length);
    to += length;
  }
  if (to === start) {
    if (to + 2 > end) return 0;
    to++;
  }
  // The comma before the first member, or nothing yet.
  store<u8>(start, OPEN_OBJECT);
  store<u8>(to, CLOSE_OBJECT);
  return to + 1;
}
