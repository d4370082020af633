import { generateChain, type RecordedBlock } from '@packhouse/replay-node';

/** A chain of small blocks from `start` on. */
export function chainFrom(start: number, length: number): RecordedBlock[] {
  return [...generateChain({ length, txsPerBlock: 5, logsPerTx: 2, tracesPerTx: 3, startNumber: start })];
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
