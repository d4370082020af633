import { EMPTY_BLOOM } from '../encode/bloom.js';
import { encodeHeader, encodeWithdrawal } from '../encode/encode-block.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { headerLength } from '../encode/rlp-buffer.js';
import { EMPTY_ROOT, trieRoot } from '../encode/trie-root.js';
import { blockText, readBlock } from '../record/block.js';
import { Reader } from '../record/reader.js';
import { hasRoot, type ReceiptRecord } from '../record/receipt.js';
import type { TransactionRecord } from '../record/transaction.js';
import { proveReceipts } from './prove-receipts.js';
import { proveSenders, signerOf } from './prove-senders.js';
import { proveTransactions } from './prove-transactions.js';
import {
  PROOFS,
  type Proof,
  type ProvedBlock,
  type RecordTexts,
  type TransactionFacts,
} from './proved-block.js';
import { type BlockInHand, disagree, proofFailed, suspects, type Tools } from './tools.js';

/** A node's answers for one block. */
export interface BlockAnswer {
  /** Result of eth_getBlockByNumber or eth_getBlockByHash with full transactions. */
  block: unknown;
  /** Result of eth_getBlockReceipts; absent if receipts are not wanted. */
  receipts?: unknown;
}

/**
 * Proves a block from the header down: hash, transactions, receipts and logs, withdrawals. Then checks the fields in
 * which parts repeat each other.
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
  if (tools.policy.senders !== 'off') {
    for (const proof of proveSenders(tools, block, body.records)) proofs.add(proof);
  }
  const withdrawals = proveWithdrawals(tools, block);
  if (withdrawals !== undefined) proofs.add('withdrawalsRoot');
  checkSize(block, { header, transactions: body.bodyLength, withdrawals });
  return {
    number,
    hash: record.hash,
    parentHash: record.parentHash,
    timestamp,
    transactions: body.records.map((tx, index) => factsOf(block, tx, receipts?.[index])),
    proofs: PROOFS.filter((proof) => proofs.has(proof)),
    notProved: [],
    unknownFields: [],
    signerOf(index) {
      tools.rlp.clear();
      return signerOf(tools, body.records[index]!);
    },
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

function factsOf(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord | undefined,
): TransactionFacts {
  const { hash, from, to, value, input } = tx;
  const facts: TransactionFacts = { hash, from, to, value, input };
  if (tx.type != null) facts.type = tx.type;
  if (receipt === undefined) return facts;
  facts.contractAddress = receipt.contractAddress;
  if (!hasRoot(receipt)) facts.success = receipt.status === '0x1';
  if (block.strict) facts.logAddresses = logAddresses(receipt);
  return facts;
}

const NO_ADDRESSES: readonly string[] = [];

/** Addresses that logged, each once. */
function logAddresses({ logs }: ReceiptRecord): readonly string[] {
  if (logs.length === 0) return NO_ADDRESSES;
  return [...new Set(logs.map(({ address }) => address))];
}

/** keccak(RLP([])): the hash of an empty list of uncles. */
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

/** Proves the block's hash from its header. Returns the header's length in RLP. */
function proveHeader(tools: Tools, block: BlockInHand): number {
  const { rlp, keccak } = tools;
  rlp.clear();
  encodeHeader(rlp, block.record);
  const header = rlp.item(0);
  const hash = keccak.hash(header);
  const expected = block.record.hash;
  if (!equalsHex(hash, expected)) {
    const got = toHex(hash);
    throw proofFailed({
      block: block.number,
      proof: 'headerHash',
      field: 'hash',
      expected,
      got,
      kinds: suspects(block),
      message: `its header hashes to ${got}, but the block is given as ${expected}.`,
    });
  }
  return header.length;
}

/** Checks the list of uncles as far as their hashes allow: it is empty exactly if the header says so. */
function checkUncles(block: BlockInHand): void {
  const { uncles, sha3Uncles } = block.record;
  if ((uncles.length === 0) === (sha3Uncles === NO_UNCLES)) return;
  const expected = sha3Uncles === NO_UNCLES ? 'no uncles' : 'one or two uncles';
  disagree(block, 'uncles', `${uncles.length} uncles`, expected, `the header's sha3Uncles is ${sha3Uncles}`);
}

/**
 * Proves the withdrawals against their root. Returns the bytes of all in RLP, or undefined if they cannot be checked:
 * the array is absent, or the block is of an OP stack, where the array is always empty and the root is the storage root
 * of the contract that passes messages to L1 (Isthmus).
 */
function proveWithdrawals(tools: Tools, block: BlockInHand): number | undefined {
  const { rlp, keccak } = tools;
  const { withdrawals, withdrawalsRoot } = block.record;
  if (withdrawals === undefined || withdrawalsRoot == null) return undefined;
  if (block.hasDeposits && withdrawals.length === 0) return undefined;
  rlp.clear();
  let length = 0;
  for (let index = 0; index < withdrawals.length; index++) {
    encodeWithdrawal(rlp, withdrawals[index]!);
    length += rlp.ends[index]! - rlp.starts[index]!;
  }
  const root = trieRoot(rlp, keccak);
  if (!equalsHex(root, withdrawalsRoot)) {
    const got = toHex(root);
    const what = `${withdrawals.length} withdrawals`;
    throw proofFailed({
      block: block.number,
      proof: 'withdrawalsRoot',
      field: 'withdrawalsRoot',
      expected: withdrawalsRoot,
      got,
      kinds: suspects(block),
      message: `withdrawalsRoot recomputed from ${what} is ${got}, the header says ${withdrawalsRoot}.`,
    });
  }
  return length;
}

/** Bytes in RLP of a block's parts, without the headers of the lists around them. */
interface PartLengths {
  /** With its own list header. */
  header: number;
  transactions: number;
  /** undefined if the withdrawals are not known. */
  withdrawals: number | undefined;
}

/**
 * Checks `size`, the bytes of the block's RLP, if every part is known: not with uncles, of which there are only hashes,
 * and not if the withdrawals are missing.
 *
 * Anvil does not count the list of withdrawals; both counts are accepted, as no header commits to either.
 */
function checkSize(block: BlockInHand, parts: PartLengths): void {
  const { record } = block;
  if (!block.strict || record.uncles.length > 0) return;
  const bare = parts.header + headerLength(parts.transactions) + parts.transactions + 1;
  let payload = bare;
  if (record.withdrawalsRoot != null) {
    if (parts.withdrawals === undefined) return;
    payload += headerLength(parts.withdrawals) + parts.withdrawals;
  }
  const size = sizeOf(payload);
  if (record.size === size || record.size === sizeOf(bare)) return;
  disagree(block, 'size', record.size, size, "it is the length of the block's RLP");
}

function sizeOf(payload: number): string {
  return `0x${(headerLength(payload) + payload).toString(16)}`;
}
