import { encodeTransaction } from '../encode/encode-transaction.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { headerLength } from '../encode/rlp-buffer.js';
import { trieRoot } from '../encode/trie-root.js';
import { EXACT_LENGTH, exactNumber, toQuantity } from '../record/hex.js';
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
import { checkTypeFields } from './check-type.js';
import { completeTransaction } from './complete.js';
import { checkTypedSync, isOutside } from './outside.js';
import { checkPostExec } from './post-exec.js';
import { type BlockInHand, checkRoot, disagree, notMade, type Tools } from './tools.js';

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
  const { rlp, keccak, policy, chain } = tools;
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
    } else if (mayBeOutside && isOutside(tools, block, tx, index)) {
      block.outside.add(index);
    } else if (hashed) {
      checkPostExec(block, tx, whole, index);
      checkChain(block, chain, tx, index);
      encodeTransaction(rlp, tx);
      const item = rlp.count - 1;
      const hash = keccak.hash(rlp.item(item));
      if (!equalsHex(hash, tx.hash)) {
        const isOfNobody = tx.kind <= 4 && isUnsigned(tx);
        const because = isOfNobody ? UNSIGNED_HASH : 'it is the hash of the transaction that was given';
        wrong(block, index, 'hash', tx.hash, toHex(hash), because);
      }
      const length = rlp.ends[item]! - rlp.starts[item]!;
      // an EIP-2718 envelope is a byte string in the block
      bodyLength += tx.kind === 0 ? length : headerLength(length) + length;
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

/** Checks a transaction's position and the fields that repeat the block's. */
function checkTransaction(block: BlockInHand, tx: TransactionRecord, index: number): void {
  const { record } = block;
  if (tx.blockHash !== record.hash) {
    wrong(block, index, 'blockHash', tx.blockHash, record.hash, "it is the block's hash");
  }
  if (tx.blockNumber !== record.number) {
    wrong(block, index, 'blockNumber', tx.blockNumber, record.number, "it is the block's number");
  }
  if (Number(tx.transactionIndex) !== index) {
    const expected = toQuantity(index);
    wrong(block, index, 'transactionIndex', tx.transactionIndex, expected, "it is the transaction's place");
  }
  if (tx.blockTimestamp !== undefined && tx.blockTimestamp !== record.timestamp) {
    wrong(block, index, 'blockTimestamp', tx.blockTimestamp, record.timestamp, "it is the block's timestamp");
  }
  if (tx.yParity != null && tx.kind !== 0 && tx.yParity !== tx.v && tx.v != null) {
    wrong(block, index, 'yParity', tx.yParity, tx.v, 'it is v under another name');
  }
  if (!block.checks.prices || tx.other !== undefined) return;
  const price = effectivePrice(tx, record.baseFeePerGas);
  if (price !== undefined && tx.gasPrice !== price) {
    const because = 'it follows from maxFeePerGas, maxPriorityFeePerGas and the base fee';
    wrong(block, index, 'gasPrice', tx.gasPrice, price, because);
  }
}

/** Notes that roots of a block cannot be recomputed, as nobody knows how one of its transactions is encoded. */
function notRecomputed(block: BlockInHand, because: string): void {
  notMade(block, 'transactionsRoot', because);
  notMade(block, 'consistency', because);
  // receipts of a type that nobody named may have the usual encoding, which the root then shows
  if (because !== UNNAMED_TYPE) notMade(block, 'receiptsRoot', because);
}

function wrong(
  block: BlockInHand,
  index: number,
  name: string,
  got: string | null | undefined,
  expected: string,
  because: string,
): never {
  return disagree(block, `transactions[${index}].${name}`, got, expected, because);
}

/**
 * The price of a unit of gas, as QUANTITY, if the block's base fee decides it: the lesser of the transaction's maximum
 * and the base fee with its tip (EIP-1559). undefined if the transaction names its price itself.
 */
function effectivePrice(tx: TransactionRecord, baseFee: string | null | undefined): string | undefined {
  const { kind, maxFeePerGas, maxPriorityFeePerGas } = tx;
  if (kind < 2 || kind > 4 || baseFee == null) return undefined;
  const max = maxFeePerGas!;
  const tip = maxPriorityFeePerGas!;
  if (max.length <= EXACT_LENGTH && tip.length <= EXACT_LENGTH && baseFee.length <= EXACT_LENGTH) {
    return toQuantity(Math.min(exactNumber(max), exactNumber(baseFee) + exactNumber(tip)));
  }
  const whole = BigInt(baseFee) + BigInt(tip);
  return whole < BigInt(max) ? toQuantity(whole) : max;
}
