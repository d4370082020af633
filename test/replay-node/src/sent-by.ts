import type { Kind } from '@packhouse/chain';
import type { RecordedBlock } from './recorded-block.js';

/** What a node sends of one kind for a block. */
export function sentBy({ block, receipts, traces }: RecordedBlock, kind: Kind): unknown {
  switch (kind) {
    case 'blocks':
      return block;
    case 'transactions':
      return block.transactions;
    case 'receipts':
      return receipts;
    case 'logs':
      return (receipts ?? []).flatMap((receipt) => receipt.logs);
    case 'traces':
      return traces;
  }
}
