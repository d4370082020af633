import { generateChain, type RecordedBlock } from '@packhouse/replay-node';

/** The longest chains so far, by their first block. */
const made = new Map<number, readonly RecordedBlock[]>();
/** Longer ones are not kept: one test each has them. */
const KEPT = 64;

/**
 * A chain of small blocks from `start` on. Tests share the blocks, of which a shorter chain has the same first ones:
 * to change one, copy it.
 */
export function chainFrom(start: number, length: number): RecordedBlock[] {
  const found = made.get(start) ?? [];
  if (found.length >= length) return found.slice(0, length);
  const blocks = generateChain({ length, txsPerBlock: 5, logsPerTx: 2, tracesPerTx: 3, startNumber: start });
  if (length <= KEPT) made.set(start, blocks.map(deepFreeze));
  return blocks;
}

/** A block that a test changed in place would be another one in the next test. */
function deepFreeze<T extends object>(value: T): T {
  for (const each of Object.values(value)) if (typeof each === 'object' && each !== null) deepFreeze(each);
  return Object.freeze(value);
}

/** The first `at` blocks of a chain and others on top of them, `length` in all. */
export function toBranch(chain: readonly RecordedBlock[], at: number, length: number): RecordedBlock[] {
  const { number, block } = chain[at - 1] as RecordedBlock;
  const after = { number, hash: block.hash, timestamp: Number(block.timestamp) };
  const other = generateChain({
    length: length - at,
    txsPerBlock: 3,
    logsPerTx: 1,
    tracesPerTx: 2,
    seed: 2,
    after,
  });
  return [...chain.slice(0, at), ...other];
}
