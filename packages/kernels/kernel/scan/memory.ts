/*
 * How the memory of the scanner is laid out.
 *
 *   static data  | TABLES | MEMO | HEAP …
 *
 * TABLES is written once, by JavaScript, before the first block, and compared with its copy after each: no code here writes
 * there. MEMO is kept between blocks (bloom.ts). The heap is cut into regions anew for each block (`reserve`, then `region`):
 * whoever writes into a region compares with its end before, and whoever reads an answer stops at the zeros behind it.
 */
import { SLACK_BYTES, TABLES_AT, TABLES_END } from '../../src/layout.js';

/** Bits of the blooms of addresses and topics. */
export const MEMO: usize = TABLES_END;
const MEMO_END: usize = 0x240000;
const HEAP: usize = MEMO_END;
const PAGE: usize = 65536;

let next: usize = HEAP;
let heapEnd: usize = HEAP;

/** Begins a block whose regions have `bytes` in total, and SLACK_BYTES each. Returns 0 if there is not so much memory. */
export function reserve(bytes: usize): u32 {
  if (<usize>__heap_base > <usize>TABLES_AT) return 0;
  const pages = <i32>((HEAP + bytes + PAGE - 1) / PAGE);
  const missing = pages - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) return 0;
  next = HEAP;
  heapEnd = HEAP + bytes;
  return 1;
}

/** The next region, with SLACK_BYTES behind it, aligned to 16; 0 if the reserved bytes are used up. */
export function region(bytes: usize): usize {
  const at = next;
  const end = (at + bytes + SLACK_BYTES + 15) & ~15;
  if (end > heapEnd) return 0;
  next = end;
  return at;
}
