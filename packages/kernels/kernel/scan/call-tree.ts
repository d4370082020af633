/*
 * Follows the traces of one transaction in preorder by the path from the root to the last of them, as
 * src/prove/call-tree.ts.
 */
import { CLOSE_LIST, COMMA, decimalNumber } from './text';

/** The EVM nests calls 1,024 deep; deeper is declined. */
const MAX_DEPTH: i32 = 1_100;
/** By depth: index of the node below in its parent, subtraces announced, subtraces seen, who executes (u32 each). */
const LEVEL: usize = 16;
const LEVELS: usize = memory.data(17_600, 16);
const MAX_SUBTRACES: u64 = 0xffffffff;

let depth: i32 = -1;

function levelAt(level: i32): usize {
  return LEVELS + LEVEL * <usize>level;
}

function enter(level: i32, subtraces: u64, executes: usize): bool {
  if (level >= MAX_DEPTH || subtraces > MAX_SUBTRACES) return false;
  depth = level;
  store<u32>(levelAt(level), <u32>subtraces, 4);
  store<u32>(levelAt(level), 0, 8);
  store<u32>(levelAt(level), <u32>executes, 12);
  return true;
}

/** Begins a tree with its root; `executes` is the address of the digits of who does in it, 0 if that is not known. */
export function beginTree(subtraces: u64, executes: usize): bool {
  return enter(0, subtraces, executes);
}

/** Who executes in the trace above the last one. */
export function getCaller(): usize {
  return depth < 1 ? 0 : <usize>load<u32>(levelAt(depth - 1), 12);
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
export function pushTrace(p: usize, subtraces: u64, executes: usize): bool {
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
      return enter(parent + 1, subtraces, executes);
    }
    if (isLast || index !== <u64>load<u32>(levelAt(level))) return false;
    level++;
  }
}
