import { EMPTY_BLOOM } from '../encode/bloom.js';
import { EMPTY_ROOT } from '../encode/trie-root.js';
import {
  PROOFS,
  type Proof,
  type ProvedBlock,
  type RecordTexts,
  type TransactionFacts,
} from '../proved-block.js';
import { readBlock } from '../read/block.js';
import { Reader } from '../read/reader.js';
import { hasRoot, type ReceiptRecord } from '../read/receipt.js';
import type { TransactionRecord } from '../read/transaction.js';
import { blockText } from '../text/block-text.js';
import { checkSize } from './check-size.js';
import { checkUncles, proveHeader } from './prove-header.js';
import { proveReceipts } from './prove-receipts.js';
import { proveSenders } from './prove-senders.js';
import { proveTransactions } from './prove-transactions.js';
import { proveWithdrawals } from './prove-withdrawals.js';
import { type BlockInHand, disagree, type Tools } from './tools.js';

/** A node's answers for one block. */
export interface BlockAnswer {
  /** Result of eth_getBlockByNumber or eth_getBlockByHash with full transactions. */
  block: unknown;
  /** Result of eth_getBlockReceipts; absent where receipts are not wanted. */
  receipts?: unknown;
}

/**
 * Proves a block from the header down: hash, transactions, receipts and logs, withdrawals, then what the parts say
 * of each other.
 *
 * @throws RECORD_INVALID, PROOF_FAILED
 */
export function proveBlock(tools: Tools, answer: BlockAnswer): ProvedBlock {
  const recompute = tools.policy.header === 'recompute';
  const reader = new Reader(tools.policy.extraFields === 'keep', tools.scratch);
  const record = readBlock(reader, answer.block, recompute ? 'required' : 'optional');
  const number = reader.number(record.number, 'number');
  const timestamp = reader.number(record.timestamp, 'timestamp');
  const block: BlockInHand = { number, record, reader, strict: recompute, hasDeposits: false };
  const proofs = new Set<Proof>(['transactionsRoot', 'consistency']);

  const header = recompute ? proveHeader(tools, block) : 0;
  if (recompute) {
    proofs.add('headerHash');
    checkUncles(block);
  }
  const body = proveTransactions(tools, block);
  const { head, tail } = blockText(record);
  const texts: RecordTexts = {
    blockHead: head,
    transactions: body.text,
    blockTail: tail,
  };

  let receipts: ReceiptRecord[] | undefined;
  if (answer.receipts !== undefined) {
    const proved = proveReceipts(tools, block, body.records, answer.receipts);
    receipts = proved.records;
    texts.receipts = proved.receipts;
    texts.logs = proved.logs;
    proofs.add('receiptsRoot').add('logsBloom');
  } else if (body.records.length === 0) {
    checkNoReceipts(block);
    proofs.add('receiptsRoot').add('logsBloom');
  }
  if (tools.policy.senders && proveSenders(tools, block, body.records)) proofs.add('senders');
  const withdrawals = proveWithdrawals(tools, block);
  if (withdrawals !== undefined) proofs.add('withdrawalsRoot');
  checkSize(block, { header, transactions: body.bodyLength, withdrawals });
  return {
    number,
    hash: record.hash,
    parentHash: record.parentHash,
    timestamp,
    transactions: body.records.map((tx, index) => factsOf(tx, receipts?.[index])),
    proofs: PROOFS.filter((proof) => proofs.has(proof)),
    texts,
  };
}

/** A block without transactions has no receipts, whether they were asked for or not. */
function checkNoReceipts(block: BlockInHand): void {
  const { receiptsRoot, logsBloom } = block.record;
  const because = 'the block has no transactions';
  if (receiptsRoot !== EMPTY_ROOT) {
    disagree(block, 'receiptsRoot', receiptsRoot, EMPTY_ROOT, because, 'receiptsRoot');
  }
  if (logsBloom !== EMPTY_BLOOM) disagree(block, 'logsBloom', logsBloom, EMPTY_BLOOM, because, 'logsBloom');
}

function factsOf(tx: TransactionRecord, receipt: ReceiptRecord | undefined): TransactionFacts {
  const { hash, from, to, value, input } = tx;
  const facts: TransactionFacts = { hash, from, to, value, input };
  if (tx.type != null) facts.type = tx.type;
  if (receipt === undefined) return facts;
  facts.contractAddress = receipt.contractAddress;
  if (!hasRoot(receipt)) facts.success = receipt.status === '0x1';
  return facts;
}
