import type { Recorded } from '@packhouse/recordings';
import type { RawBlock } from '../src/prove/prove-raw.js';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'latin1');

/** A recorded block as the bytes of a node's answers. */
export function toRaw({ block, receipts, traces }: Recorded): RawBlock {
  const { transactions, ...header } = block;
  return {
    header: { ...header, transactions: [] },
    transactions: bytes(transactions),
    ...(receipts === undefined ? {} : { receipts: bytes(receipts) }),
    ...(traces === undefined ? {} : { traces: bytes(traces) }),
  };
}
