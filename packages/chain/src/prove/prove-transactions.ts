import { encodeTransaction } from '../encode/encode-transaction.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { headerLength } from '../encode/rlp-buffer.js';
import { trieRoot } from '../encode/trie-root.js';
import { EXACT_LENGTH, exactNumber } from '../record/hex.js';
import {
  DEPOSIT,
  readTransaction,
  type TransactionRecord,
  transactionHead,
  transactionText,
} from '../record/transaction.js';
import { type BlockInHand, disagree, proofFailed, suspects, type Tools } from './tools.js';

/** The proved transactions of a block. */
interface ProvedTransactions {
  records: TransactionRecord[];
  /** Canonical JSON of all. */
  text: string;
  /** Bytes of all transactions in the block's RLP. */
  bodyLength: number;
}

/** Proves that the transactions are those that the header commits to, each with the hash it says. */
export function proveTransactions(tools: Tools, block: BlockInHand): ProvedTransactions {
  const { rlp, keccak } = tools;
  const { reader, record } = block;
  const records: TransactionRecord[] = [];
  let bodyLength = 0;
  rlp.clear();
  let text = '[';
  const head = transactionHead(record.hash, record.number);
  for (let index = 0; index < record.transactions.length; index++) {
    reader.at('transaction', index);
    const tx = readTransaction(reader, record.transactions[index], record);
    if (tx.kind === DEPOSIT) block.hasDeposits = true;
    checkTransaction(block, tx, index);
    encodeTransaction(rlp, tx);
    const hash = keccak.hash(rlp.item(index));
    if (!equalsHex(hash, tx.hash)) {
      const because = 'it is the hash of the transaction that was given';
      wrong(block, index, 'hash', tx.hash, toHex(hash), because);
    }
    const length = rlp.ends[index]! - rlp.starts[index]!;
    // an EIP-2718 envelope is a byte string in the block
    bodyLength += tx.kind === 0 ? length : headerLength(length) + length;
    records.push(tx);
    text += `${index > 0 ? ',' : ''}${transactionText(tx, head)}`;
  }
  reader.at('block', 0);
  const root = trieRoot(rlp, keccak);
  if (!equalsHex(root, record.transactionsRoot)) {
    const got = toHex(root);
    const expected = record.transactionsRoot;
    throw proofFailed({
      block: block.number,
      proof: 'transactionsRoot',
      field: 'transactionsRoot',
      expected,
      got,
      kinds: suspects(block),
      message: `transactionsRoot recomputed from ${records.length} transactions is ${got}, the header says ${expected}.`,
    });
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
    const expected = `0x${index.toString(16)}`;
    wrong(block, index, 'transactionIndex', tx.transactionIndex, expected, "it is the transaction's place");
  }
  if (tx.blockTimestamp !== undefined && tx.blockTimestamp !== record.timestamp) {
    wrong(block, index, 'blockTimestamp', tx.blockTimestamp, record.timestamp, "it is the block's timestamp");
  }
  if (tx.yParity != null && tx.kind !== 0 && tx.yParity !== tx.v && tx.v != null) {
    wrong(block, index, 'yParity', tx.yParity, tx.v, 'it is v under another name');
  }
  if (!block.strict) return;
  if (tx.kind === 0 && tx.chainId != null) checkLegacyChain(block, tx, index);
  const price = effectivePrice(tx, record.baseFeePerGas);
  if (price !== undefined && tx.gasPrice !== price) {
    const because = 'it follows from maxFeePerGas, maxPriorityFeePerGas and the base fee';
    wrong(block, index, 'gasPrice', tx.gasPrice, price, because);
  }
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

function checkLegacyChain(block: BlockInHand, tx: TransactionRecord, index: number): void {
  const expected = legacyChainId(tx);
  if (expected === undefined || tx.chainId === expected) return;
  wrong(block, index, 'chainId', tx.chainId, expected, `v is ${tx.v} (EIP-155)`);
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
    return `0x${Math.min(exactNumber(max), exactNumber(baseFee) + exactNumber(tip)).toString(16)}`;
  }
  const whole = BigInt(baseFee) + BigInt(tip);
  return whole < BigInt(max) ? `0x${whole.toString(16)}` : max;
}

/** Chain that a legacy transaction is bound to: `v` is 35 or 36 and twice the id (EIP-155); undefined for 27 and 28. */
export function legacyChainId(tx: TransactionRecord): string | undefined {
  const v = BigInt(tx.v!);
  return v < 35n ? undefined : `0x${((v - 35n) >> 1n).toString(16)}`;
}
