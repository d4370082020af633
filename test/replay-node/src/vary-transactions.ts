import { PackhouseError } from '@packhouse/runtime';
import { canVary } from './block-templates.js';
import { encodeTransaction } from './encode-transaction.js';
import { dataBytes, keccak, toData } from './hex.js';
import { orderedTrieRoot } from './ordered-trie-root.js';
import type { RecordedBlock } from './recorded-block.js';
import type { TransactionPlace } from './served-chain.js';

/** Transactions of repeated blocks, each with a signature and so a hash of its own. */
export interface VariedTransactions {
  /** Computes the hashes and the root of a block; `varied` false leaves the signatures as they were recorded. */
  add(number: number, record: RecordedBlock, varied: boolean): void;
  /** transactionsRoot of a block that was added. */
  root(number: number): Uint8Array;
  hash(number: number, index: number): string;
  /** The last 16 digits of a transaction's `r`; undefined for one that is left as it is. */
  signatureTail(number: number, index: number): string | undefined;
  locate(hash: string): TransactionPlace | undefined;
}

interface Added {
  record: RecordedBlock;
  varied: boolean;
  /** 32 bytes each. */
  hashes: Buffer;
  root: Uint8Array;
}

/** Starts with no block added. */
export function createVariedTransactions(): VariedTransactions {
  const blocks = new Map<number, Added>();
  const places = new Map<string, TransactionPlace>();
  const get = (number: number): Added => blocks.get(number) as Added;
  const hash = (number: number, index: number): string =>
    toData(get(number).hashes.subarray(index * 32, index * 32 + 32));
  return {
    add(number, record, varied) {
      const { transactions, transactionsRoot } = record.block;
      const recorded = { record, varied, root: dataBytes(transactionsRoot) };
      if (!varied) {
        const hashes = Buffer.concat(transactions.map((transaction) => dataBytes(transaction.hash)));
        blocks.set(number, { ...recorded, hashes });
      } else {
        const encoded = transactions.map((transaction, index) => {
          const tail = getTail(number, index);
          const r = canVary(transaction) ? String(transaction.r).slice(0, -16) + tail : transaction.r;
          return encodeTransaction({ ...transaction, r }) ?? refuse(record);
        });
        const hashes = Buffer.concat(encoded.map(keccak));
        blocks.set(number, { ...recorded, hashes, root: orderedTrieRoot(encoded) });
      }
      transactions.forEach((_, index) => {
        places.set(hash(number, index), { number, index });
      });
    },
    root: (number) => get(number).root,
    hash,
    signatureTail(number, index) {
      const { record, varied } = get(number);
      const transaction = record.block.transactions[index];
      if (transaction === undefined || !canVary(transaction)) return undefined;
      return varied ? getTail(number, index) : String(transaction.r).slice(-16);
    },
    locate: (wanted) => places.get(wanted),
  };
}

/** Block and position in 16 digits: no two transactions of a chain share them. */
function getTail(number: number, index: number): string {
  return number.toString(16).padStart(12, '0') + index.toString(16).padStart(4, '0');
}

function refuse({ number }: RecordedBlock): never {
  throw new PackhouseError({
    code: 'RECORD_INVALID',
    message: `The transactions of block ${number} cannot be varied: one is of a type without a signature.`,
    hint: 'Leave varyTransactions off for this recording.',
  });
}
