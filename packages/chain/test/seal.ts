import type { Recorded } from '@packhouse/recordings';
import { encodeHeader, encodeReceipt } from '../src/encode/encode-block.js';
import { encodeTransaction } from '../src/encode/encode-transaction.js';
import { createKeccak256, toHex } from '../src/encode/keccak.js';
import { RlpBuffer } from '../src/encode/rlp-buffer.js';
import { trieRoot } from '../src/encode/trie-root.js';
import { readBlock } from '../src/record/block.js';
import { NO_HINTS } from '../src/record/log.js';
import { Reader } from '../src/record/reader.js';
import { readReceipt } from '../src/record/receipt.js';
import { readTransaction } from '../src/record/transaction.js';
import { ETHEREUM, ETHEREUM_HEADER } from '../src/rules/ethereum.js';

/** Makes the hashes and roots of a changed block right again: a block that a chain could have. */
export async function seal(answer: Recorded): Promise<Recorded> {
  const { block, receipts = [] } = answer;
  const keccak = await createKeccak256();
  const reader = new Reader(true);
  const transactions = new RlpBuffer();
  const kinds = block.transactions.map((tx, index) => {
    const record = readTransaction(reader, tx, { hash: '', number: '' }, ETHEREUM.types);
    encodeTransaction(transactions, record);
    tx.hash = toHex(keccak.hash(transactions.item(index)));
    return record.kind;
  });
  block.transactionsRoot = toHex(trieRoot(transactions, keccak));
  const encoded = new RlpBuffer();
  for (const [index, receipt] of receipts.entries()) {
    encodeReceipt(encoded, readReceipt(reader, receipt, NO_HINTS, index, 0), kinds[index]!);
  }
  block.receiptsRoot = toHex(trieRoot(encoded, keccak));
  const header = new RlpBuffer();
  encodeHeader(
    header,
    readBlock(reader, block, { seals: 'required', header: ETHEREUM_HEADER }),
    ETHEREUM_HEADER,
  );
  block.hash = toHex(keccak.hash(header.item(0)));
  for (const tx of block.transactions) tx.blockHash = block.hash;
  for (const [index, receipt] of receipts.entries()) {
    const own = { blockHash: block.hash, transactionHash: block.transactions[index]!.hash };
    Object.assign(receipt, own);
    for (const log of receipt.logs) Object.assign(log, own);
  }
  for (const trace of answer.traces ?? []) {
    trace.blockHash = block.hash;
    if (trace.transactionPosition != null)
      trace.transactionHash = block.transactions[trace.transactionPosition as number]!.hash;
  }
  return answer;
}
