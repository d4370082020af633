import { canonicalRecord, type Kind } from '@packhouse/chain';
import type { RecordedBlock } from '@packhouse/replay-node';

const known = new WeakMap<RecordedBlock, Map<Kind, string>>();

/** What an honest node sends of one kind for a block. */
function sentBy(block: RecordedBlock, kind: Kind): unknown {
  switch (kind) {
    case 'blocks':
      return block.block;
    case 'transactions':
      return block.block.transactions;
    case 'receipts':
      return block.receipts;
    case 'logs':
      return (block.receipts ?? []).flatMap((receipt) => receipt.logs);
    case 'traces':
      return block.traces;
  }
}

/** The text that has to be staged and published for a block: what the honest node has, in canonical form. */
export function canonicalText(block: RecordedBlock, kind: Kind): string {
  let texts = known.get(block);
  if (texts === undefined) {
    texts = new Map();
    known.set(block, texts);
  }
  let text = texts.get(kind);
  if (text === undefined) {
    text = canonicalRecord(kind, sentBy(block, kind));
    texts.set(kind, text);
  }
  return text;
}
