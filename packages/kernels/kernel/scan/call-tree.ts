/*
 * Follows the traces of one transaction in preorder by the path from the root to the last of them, as
 * src/prove/call-tree.ts.
 */
import { CLOSE_LIST, COMMA, decimalNumber } from './text.js';

/** The EVM nests calls 1,024 deep; deeper is declined. */
const MAX_DEPTH: i32 = 1_100;
/** By depth: index of the node below in its parent, subtraces announced, subtraces seen (u32 each). */
const LEVEL: usize = 12;
const LEVELS: usize = memory.data(13_200, 16);
const MAX_SUBTRACES: u64 = 0xffffffff;

let depth: i32 = -1;

function levelAt(level: i32): usize {
  return LEVELS + LEVEL * <usize>level;
}

function enter(level: i32, subtraces: u64): bool {
  if (level >= MAX_DEPTH || subtraces > MAX_SUBTRACES) return false;
  depth = level;
  store<u32>(levelAt(level), <u32>subtraces, 4);
  store<u32>(levelAt(level), 0, 8);
  return true;
}

/** Begins a tree with its root. */
export function beginTree(subtraces: u64): bool {
  return enter(0, subtraces);
}

/** The deepest node that lacks children; -1 if there is none. */
function deepestOpen(): i32 {
  let level = depth;
  while (level >= 0 && load<u32>(levelAt(level), 4) === load<u32>(levelAt(level), 8)) level--;
  return level;
}

/** Whether no node lacks children. */
export function isTreeWhole(): bool {
  return deepestOpen() < 0;
}

/** Takes the next trace, whose address is the list of integers at `p`. Returns whether it is in its place. */
export function pushTrace(p: usize, subtraces: u64): bool {
  const parent = deepestOpen();
  if (parent < 0) return false;
  p++;
  let level: i32 = 0;
  while (true) {
    const start = p;
    while (<u32>load<u8>(p) !== COMMA && <u32>load<u8>(p) !== CLOSE_LIST) p++;
    const index = decimalNumber(start, p);
    const isLast = <u32>load<u8>(p) === CLOSE_LIST;
    p++;
    if (level === parent) {
      const seen = load<u32>(levelAt(parent), 8);
      if (!isLast || index !== <u64>seen) return false;
      store<u32>(levelAt(parent), seen);
      store<u32>(levelAt(parent), seen + 1, 8);
      return enter(parent + 1, subtraces);
    }
    if (isLast || index !== <u64>load<u32>(levelAt(level))) return false;
    level++;
  }
}
