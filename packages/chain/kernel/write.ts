/*
 * Canonical texts: the fields of slots in one of the orders of the tables.
 *
 * An order: required fields (u64), allowed fields (u64), their count (u32), and from 32 on 16 bytes for each: its field, and
 * address and length of what stands before its value, `,"name":`.
 */
import { orderOf } from './fields';
import { lengthOf, valueAt } from './slots';
import { CLOSE_OBJECT, copy, OPEN_OBJECT } from './text';

const HEAD: usize = 32;
const STEP: usize = 16;
/** What a copy may overwrite behind its end. */
const BEHIND: usize = 48;

/**
 * Writes an object to `to`; all of it stays before `end`. Returns the address behind it, or 0 if a required field is absent,
 * one is there that is not allowed, or there is no room.
 */
export function writeObject(to: usize, end: usize, order: u32, slots: usize): usize {
  let step = orderOf(order);
  const mask = load<u64>(slots);
  const required = load<u64>(step);
  if ((mask & required) !== required || (mask & ~load<u64>(step, 8)) !== 0) return 0;
  const start = to;
  const last = step + HEAD + STEP * <usize>load<u32>(step, 16);
  for (step += HEAD; step < last; step += STEP) {
    const field = load<u32>(step);
    if ((mask & ((<u64>1) << field)) === 0) continue;
    const head = <usize>load<u32>(step, 8);
    const length = lengthOf(slots, field);
    if (to + head + length + BEHIND > end) return 0;
    const name = <usize>load<u32>(step, 4);
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
