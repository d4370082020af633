import { type CodedBatch, columnReader, sliceBatch } from '@packhouse/rows';

/** Rows that wait for those of the same blocks of other kinds. */
interface RowsQueue {
  add(batch: CodedBatch): void;
  /** Takes out the rows of all blocks up to this one, in their order. */
  take(through: number): CodedBatch[];
}

/** Creates a queue of batches, each of whole blocks, ascending. */
export function createRowsQueue(): RowsQueue {
  let waiting: CodedBatch[] = [];
  return {
    add(batch) {
      if (batch.rows > 0) waiting.push(batch);
    },
    take(through) {
      const taken: CodedBatch[] = [];
      const rest: CodedBatch[] = [];
      for (const batch of waiting) {
        const rows = rowsThrough(batch, through);
        if (rows > 0) taken.push(rows === batch.rows ? batch : sliceBatch(batch, 0, rows));
        if (rows < batch.rows) rest.push(rows === 0 ? batch : sliceBatch(batch, rows, batch.rows));
      }
      waiting = rest;
      return taken;
    },
  };
}

/** How many of the rows are of blocks up to this one. */
export function rowsThrough(batch: CodedBatch, through: number): number {
  const blockAt = columnReader(batch, 'block_number') as (row: number) => number;
  let [low, high] = [0, batch.rows];
  if (high > 0 && blockAt(high - 1) <= through) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blockAt(middle) <= through) low = middle + 1;
    else high = middle;
  }
  return low;
}
