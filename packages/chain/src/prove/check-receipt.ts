import { toHex } from '../encode/keccak.js';
import type { BlockRecord } from '../record/block.js';
import { EXACT_LENGTH, exactNumber } from '../record/hex.js';
import type { LogRecord } from '../record/log.js';
import { OF_RECEIPTS } from '../record/reader.js';
import { hasRoot, type ReceiptRecord } from '../record/receipt.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { blobGas } from './complete.js';
import { disputedSender, signerOf } from './prove-senders.js';
import { type BlockInHand, disagree, type Tools } from './tools.js';

const NO_ADDRESS = `0x${'0'.repeat(40)}`;

/** A field that repeats another part of the block; `got` is undefined if the record omits it. */
type Expectation<R> = readonly [
  name: string,
  got: (record: R, tx: TransactionRecord) => string | null | undefined,
  expected: (block: BlockRecord, tx: TransactionRecord) => string | null | undefined,
  because: string,
];

const PLACE = "it is the transaction's place";

const OF_RECEIPT: readonly Expectation<ReceiptRecord>[] = [
  ['blockHash', (receipt) => receipt.blockHash, ({ hash }) => hash, 'the receipt is of another block'],
  ['blockNumber', (receipt) => receipt.blockNumber, ({ number }) => number, "it is the block's number"],
  [
    'transactionHash',
    (receipt) => receipt.transactionHash,
    (_, tx) => tx.hash,
    "it is the transaction's hash",
  ],
  ['transactionIndex', (receipt) => receipt.transactionIndex, (_, tx) => tx.transactionIndex, PLACE],
  ['to', (receipt) => receipt.to, (_, tx) => tx.to, "it is the transaction's recipient"],
  ['type', typeOf, (_, tx) => tx.type, "it is the transaction's type"],
];

const OF_LOG: readonly Expectation<LogRecord>[] = [
  ['blockHash', (log) => log.blockHash, ({ hash }) => hash, 'the log is of another block'],
  ['blockNumber', (log) => log.blockNumber, ({ number }) => number, "it is the block's number"],
  ['transactionHash', (log) => log.transactionHash, (_, tx) => tx.hash, "it is the transaction's hash"],
  ['transactionIndex', (log) => log.transactionIndex, (_, tx) => tx.transactionIndex, PLACE],
  [
    'blockTimestamp',
    (log) => log.blockTimestamp,
    ({ timestamp }) => timestamp,
    "it is the block's timestamp",
  ],
];

/** Compared only if both have one. */
function typeOf(receipt: ReceiptRecord, tx: TransactionRecord): string | undefined {
  return tx.type == null ? undefined : (receipt.type ?? undefined);
}

/** Checks that a receipt and its logs are of this transaction; `firstLog` is the number of logs before it. */
export function checkReceipt(
  tools: Tools,
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
  firstLog: number,
): void {
  const { record, checks } = block;
  const broken = firstBroken(OF_RECEIPT, receipt, record, tx);
  if (broken !== undefined) fail(`receipts[${index}]`, broken, receipt, block, tx);
  if (receipt.from != null && receipt.from !== tx.from) {
    throw disputedSender(block.number, tx, signerOf(tools, tx), {
      field: `receipts[${index}].from`,
      got: receipt.from,
      expected: tx.from,
      because: "it is the transaction's sender",
      proof: 'consistency',
      kinds: OF_RECEIPTS,
      fits: (sender) => sender === receipt.from,
    });
  }
  for (let at = 0; at < receipt.logs.length; at++) {
    const log = receipt.logs[at]!;
    const ofLog = firstBroken(OF_LOG, log, record, tx);
    if (ofLog !== undefined) fail(`receipts[${index}].logs[${at}]`, ofLog, log, block, tx);
    if (indexOf(log.logIndex) !== firstLog + at) {
      const expected = `0x${(firstLog + at).toString(16)}`;
      const because = 'logs are numbered through the block';
      disagree(block, `receipts[${index}].logs[${at}].logIndex`, log.logIndex, expected, because);
    }
    if (log.removed) {
      const because = 'a log of a block that stands is not removed';
      disagree(block, `receipts[${index}].logs[${at}].removed`, 'true', 'false', because);
    }
  }
  if (checks.prices && tx.other === undefined) checkPrices(block, tx, receipt, index);
}

function firstBroken<R>(
  table: readonly Expectation<R>[],
  record: R,
  block: BlockRecord,
  tx: TransactionRecord,
): Expectation<R> | undefined {
  for (let at = 0; at < table.length; at++) {
    const expectation = table[at]!;
    const got = expectation[1](record, tx);
    if (got !== undefined && got !== expectation[2](block, tx)) return expectation;
  }
  return undefined;
}

function fail<R>(
  path: string,
  [name, got, expected, because]: Expectation<R>,
  record: R,
  block: BlockInHand,
  tx: TransactionRecord,
): never {
  return disagree(block, `${path}.${name}`, got(record, tx), expected(block.record, tx) ?? 'null', because);
}

function checkPrices(block: BlockInHand, tx: TransactionRecord, receipt: ReceiptRecord, index: number): void {
  const { effectiveGasPrice, blobGasUsed } = receipt;
  if (effectiveGasPrice != null && tx.gasPrice != null && effectiveGasPrice !== tx.gasPrice) {
    const because = "it is the transaction's gasPrice";
    disagree(block, `receipts[${index}].effectiveGasPrice`, effectiveGasPrice, tx.gasPrice, because);
  }
  if (tx.kind === 3 && blobGasUsed != null) {
    const expected = blobGas(tx);
    if (blobGasUsed === expected) return;
    disagree(block, `receipts[${index}].blobGasUsed`, blobGasUsed, expected, 'a blob uses 131072');
  }
}

/** The number in an index; one that is absurdly long never matches. */
function indexOf(quantity: string): number {
  return quantity.length <= EXACT_LENGTH ? exactNumber(quantity) : -1;
}

/** Gas used by the block up to and with this receipt, checked against `before`. */
export function checkGas(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
  before: number,
): number {
  const { reader } = block;
  reader.at('receipt', index);
  const used = reader.number(receipt.gasUsed, 'gasUsed');
  const total = reader.number(receipt.cumulativeGasUsed, 'cumulativeGasUsed');
  // before Regolith a deposit's gasUsed differs from what it adds to the block's, so only the direction is checked
  const exact =
    block.checks.sums && !(tx.kind === DEPOSIT && tx.other === undefined && receipt.depositNonce == null);
  if (exact ? total !== before + used : total < before) {
    const expected = exact ? `0x${(before + used).toString(16)}` : `at least 0x${before.toString(16)}`;
    const because = 'gas adds up through the block';
    disagree(block, `receipts[${index}].cumulativeGasUsed`, receipt.cumulativeGasUsed, expected, because);
  }
  return total;
}

/**
 * Checks the block's gas against that of its receipts.
 *
 * Since Amsterdam the block counts gas before refunds (EIP-7778), and only the greater of what is spent on execution and
 * on new state (EIP-8037): at least half of the receipts' sum, at most the limit. Block 11875839 of Sepolia has
 * 79,004,385, its receipts 116,099,168.
 */
export function checkTotal(block: BlockInHand, sum: number): void {
  const { record, reader, checks } = block;
  const used = reader.number(record.gasUsed, 'gasUsed');
  const total = checks.total === 'equal' && record.blockAccessListHash != null ? 'bounds' : checks.total;
  const hex = (gas: number) => `0x${gas.toString(16)}`;
  if (total === 'equal' && used !== sum) {
    disagree(block, 'gasUsed', record.gasUsed, hex(sum), `the receipts use ${hex(sum)}`);
  }
  if (total !== 'bounds') return;
  const least = Math.ceil(sum / 2);
  if (used >= least && used <= reader.number(record.gasLimit, 'gasLimit')) return;
  const expected = `from ${hex(least)} to ${record.gasLimit}`;
  disagree(block, 'gasUsed', record.gasUsed, expected, `the receipts use ${hex(sum)} (EIP-7778, EIP-8037)`);
}

/**
 * Checks the address of a new contract against the transaction's sender and nonce.
 *
 * A failed creation has it or null, depending on the node. The first generation of the OP stack omits the sender, and
 * writes zeros instead of null.
 */
export function checkContract(
  tools: Tools,
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
): void {
  if (!block.checks.addresses || tx.other !== undefined) return;
  const field = `receipts[${index}].contractAddress`;
  const got = receipt.contractAddress;
  if (tx.to !== null) {
    const zeros = got === NO_ADDRESS && receipt.from === undefined;
    if (got !== null && !zeros) disagree(block, field, got, 'null', 'the transaction creates no contract');
    return;
  }
  if (got === null && (hasRoot(receipt) || receipt.status === '0x0')) return;
  const nonce = tx.kind === DEPOSIT ? receipt.depositNonce : tx.nonce;
  if (nonce == null) return;
  const address = (sender: string) => contractAddress(tools, sender, nonce);
  const expected = address(tx.from);
  if (got === expected) return;
  throw disputedSender(block.number, tx, signerOf(tools, tx), {
    field,
    got: got ?? 'null',
    expected,
    because: 'it follows from the sender and its nonce',
    proof: 'consistency',
    kinds: OF_RECEIPTS,
    fits: (sender) => address(sender) === got,
  });
}

/**
 * Address of the contract that `from` creates with this nonce: the last 20 bytes of keccak(RLP([from, nonce])).
 *
 * Adds an item to `rlp`. Source: Yellow Paper, section 7.
 */
function contractAddress({ rlp, keccak }: Tools, from: string, nonce: string): string {
  const payload = rlp.beginItem();
  rlp.data(from);
  rlp.quantity(nonce);
  rlp.endItem(payload);
  return toHex(keccak.hash(rlp.item(rlp.count - 1)).subarray(12));
}
