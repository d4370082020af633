import type { ProofPolicy } from './prove/proved-block.js';
import { blockText, readBlock } from './record/block.js';
import type { Kind } from './record/kinds.js';
import { logText, NO_HINTS, readLog } from './record/log.js';
import { plainBlock, plainReceipt, plainTransaction } from './record/plain.js';
import { Reader } from './record/reader.js';
import { readReceipt, receiptText } from './record/receipt.js';
import { NO_TRACE_HINTS, readTrace } from './record/trace.js';
import { readTransaction, transactionText } from './record/transaction.js';

/** The fields of the text; absent: all. `published`: of a bundle, whose failures of traces are as they are. */
type CanonicalOptions = Partial<Pick<ProofPolicy, 'extraFields' | 'header'>> & { published?: boolean };

/**
 * Canonical JSON of one block for one kind, without any proof: the block object for `blocks`, the array of that
 * block's records for every other kind.
 *
 * Canonical JSON stays the same when it is converted again, so a node's answer and a bundle's content can be compared.
 *
 * @throws RECORD_INVALID
 */
export function canonicalRecord(kind: Kind, value: unknown, options: CanonicalOptions = {}): string {
  const reader = new Reader((options.extraFields ?? 'keep') === 'keep');
  reader.kinds = [kind];
  reader.published = options.published ?? false;
  if (kind === 'blocks') {
    const block = readBlock(reader, value, {
      seals: options.header === 'trust' ? 'optional' : 'required',
    });
    const { head, tail } = blockText(reader.keepExtras ? block : plainBlock(block));
    return `${head}[${recordTexts(reader, 'transactions', block.transactions).join(',')}]${tail}`;
  }
  return `[${recordTexts(reader, kind, value).join(',')}]`;
}

function recordTexts(reader: Reader, kind: Exclude<Kind, 'blocks'>, value: unknown): string[] {
  let logs = 0;
  return reader.items(value, kind, (item, index) => {
    switch (kind) {
      case 'transactions': {
        reader.at('transaction', index);
        const tx = readTransaction(reader, item, { hash: '', number: '' });
        return transactionText(reader.keepExtras ? tx : plainTransaction(tx));
      }
      case 'receipts': {
        const receipt = readReceipt(reader, item, NO_HINTS, index, logs);
        logs += receipt.logs.length;
        const { head, tail } = receiptText(reader.keepExtras ? receipt : plainReceipt(receipt));
        return head + receipt.logs.map((log) => logText(log)).join(',') + tail;
      }
      case 'logs':
        reader.at('log', index);
        return logText(readLog(reader, item, NO_HINTS));
      case 'traces':
        reader.at('trace', index);
        return readTrace(reader, item, NO_TRACE_HINTS).text;
    }
  });
}
