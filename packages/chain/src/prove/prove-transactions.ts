import { encodeTransaction } from '../encode/encode-transaction.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { headerLength } from '../encode/rlp-buffer.js';
import { trieRoot } from '../encode/trie-root.js';
import { toQuantity } from '../record/hex.js';
import { plainTransaction } from '../record/plain.js';
import {
  DEPOSIT,
  readTransaction,
  type TransactionRecord,
  transactionHead,
  transactionText,
  UNNAMED_TYPE,
} from '../record/transaction.js';
import { checkChain, isUnsigned } from './check-chain.js';
import { checkPrice } from './check-price.js';
import { checkTypeFields } from './check-type.js';
import { completeTransaction } from './complete.js';
import { checkTypedSync, isOutside } from './outside.js';
import { checkPostExec } from './post-exec.js';
import { type BlockInHand, checkRoot, disagreeOf, notMade, type Tools } from './tools.js';

/** Anvil hashes the sender too, which nothing could check. */
const UNSIGNED_HASH =
  'nobody signed the transaction, and Anvil gives those of accounts that it impersonates a hash of its own';

/** The proved transactions of a block. */
interface ProvedTransactions {
  records: TransactionRecord[];
  /** Canonical JSON of all. */
  text: string;
  /** Bytes of all transactions in the block's RLP; undefined if they are not proved. */
  bodyLength: number | undefined;
}

/** Proves that the transactions are those that the header commits to, each with the hash it says. */
export function proveTransactions(tools: Tools, block: BlockInHand): ProvedTransactions {
  const { rlp, keccak, policy } = tools;
  const { reader, record } = block;
  const hashed = block.unproved.hashes === undefined;
  const computes = hashed && policy.derived !== 'leave';
  const mayBeOutside = block.rules.outside !== 'none';
  const records: TransactionRecord[] = [];
  let bodyLength = 0;
  rlp.clear();
  let text = '[';
  const head = transactionHead(record.hash, record.number);
  const types = policy.transactions === 'trust' ? undefined : block.rules.types;
  for (let index = 0; index < record.transactions.length; index++) {
    reader.at('transaction', index);
    const given = record.transactions[index];
    const whole = computes ? completeTransaction(given, policy.chainId) : given;
    const tx = readTransaction(reader, whole, record, types);
    if (tx.kind === DEPOSIT && tx.other === undefined) block.hasDeposits = true;
    checkTransaction(block, tx, index);
    if (hashed) checkTypeFields(block, tx, index);
    records.push(tx);
    if (tx.other?.unknown !== undefined) {
      checkTypedSync(tools, block, tx, index);
      notRecomputed(block, tx.other.unknown);
      checkPrice(block, tx, index);
    } else if (mayBeOutside && isOutside(tools, block, tx, index)) {
      block.outside.add(index);
    } else {
      checkPrice(block, tx, index);
      if (hashed) bodyLength += proveHash(tools, block, tx, whole, index);
    }
    text += `${index > 0 ? ',' : ''}${transactionText(reader.keepExtras ? tx : plainTransaction(tx), head)}`;
  }
  reader.at('block', 0);
  if (block.notProved.has('transactionsRoot')) return { records, text: `${text}]`, bodyLength: undefined };
  checkRoot(block, 'transactionsRoot', trieRoot(rlp, keccak), `${records.length} transactions`);
  if (block.outside.size > 0 && block.rules.outside === 'zeroPrice') {
    notMade(block, 'transactionsRoot', 'transactions of price 0, which the system makes, are in no root');
  }
  return { records, text: `${text}]`, bodyLength };
}

/** Proves the hash of a transaction, whose RLP becomes an item; returns its length in the block. */
function proveHash(
  { rlp, keccak, chain }: Tools,
  block: BlockInHand,
  tx: TransactionRecord,
  given: unknown,
  index: number,
): number {
  checkPostExec(block, tx, given, index);
  checkChain(block, chain, tx, index);
  encodeTransaction(rlp, tx);
  const item = rlp.count - 1;
  const hash = keccak.hash(rlp.item(item));
  if (!equalsHex(hash, tx.hash)) {
    const isOfNobody = tx.kind <= 4 && isUnsigned(tx);
    const because = isOfNobody ? UNSIGNED_HASH : 'it is the hash of the transaction that was given';
    disagreeOf(block, index, 'hash', tx.hash, toHex(hash), because);
  }
  const length = rlp.ends[item]! - rlp.starts[item]!;
  // an EIP-2718 envelope is a byte string in the block
  return tx.kind === 0 ? length : headerLength(length) + length;
}

/** Checks a transaction's position and the fields that repeat the block's. */
function checkTransaction(block: BlockInHand, tx: TransactionRecord, index: number): void {
  const { record } = block;
  if (tx.blockHash !== record.hash) {
    disagreeOf(block, index, 'blockHash', tx.blockHash, record.hash, "it is the block's hash");
  }
  if (tx.blockNumber !== record.number) {
    disagreeOf(block, index, 'blockNumber', tx.blockNumber, record.number, "it is the block's number");
  }
  if (Number(tx.transactionIndex) !== index) {
    const expected = toQuantity(index);
    disagreeOf(
      block,
      index,
      'transactionIndex',
      tx.transactionIndex,
      expected,
      "it is the transaction's place",
    );
  }
  if (tx.blockTimestamp !== undefined && tx.blockTimestamp !== record.timestamp) {
    disagreeOf(
      block,
      index,
      'blockTimestamp',
      tx.blockTimestamp,
      record.timestamp,
      "it is the block's timestamp",
    );
  }
  if (tx.yParity != null && tx.kind !== 0 && tx.yParity !== tx.v && tx.v != null) {
    disagreeOf(block, index, 'yParity', tx.yParity, tx.v, 'it is v under another name');
  }
}

/** Notes that roots of a block cannot be recomputed, as nobody knows how one of its transactions is encoded. */
function notRecomputed(block: BlockInHand, because: string): void {
  notMade(block, 'transactionsRoot', because);
  notMade(block, 'consistency', because);
  // receipts of a type that nobody named may have the usual encoding, which the root then shows
  if (because !== UNNAMED_TYPE) notMade(block, 'receiptsRoot', because);
}
