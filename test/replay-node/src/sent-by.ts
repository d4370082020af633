import type { Kind } from '@packhouse/chain';
import type { RecordedBlock } from './recorded-block.js';

/** What a node sends of one kind for a block. */
export function sentBy(recorded: RecordedBlock, kind: Kind): unknown {
  switch (kind) {
    case 'blocks':
      return recorded.block;
    case 'transactions':
      return recorded.block.transactions;
    case 'receipts':
      return recorded.receipts;
    case 'logs':
      return (recorded.receipts ?? []).flatMap((receipt) => receipt.logs);
    case 'traces':
      return recorded.traces;
  }
}
