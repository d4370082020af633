import { toHex } from '../encode/keccak.js';
import { EXACT_LENGTH, exactNumber, toQuantity } from '../record/hex.js';
import { OF_RECEIPTS, type Optional } from '../record/reader.js';
import { isUndone, type ReceiptRecord } from '../record/receipt.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import type { Checks } from '../rules/rule-set.js';
import { disputedSender, getSigner } from './prove-senders.js';
import { type BlockInHand, correct, disagree, type Tools } from './tools.js';

const NO_ADDRESS = `0x${'0'.repeat(40)}`;
const TIMESTAMP = "it is the block's timestamp";
const BLOCK_NUMBER = "it is the block's number";
const TRANSACTION_HASH = "it is the transaction's hash";
const PLACE = "it is the transaction's place";

/** Checks that a receipt and its logs are of this transaction. */
export function checkReceipt(
  tools: Tools,
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
  numbers: LogNumbers,
): void {
  const { hash, number, timestamp } = block.record;
  /** Checks a field that repeats another part of the block; `got` is undefined if the record omits it. */
  const check = (
    name: string,
    got: Optional<string>,
    expected: Optional<string>,
    because: string,
    log = -1,
  ) => {
    if (got === undefined || got === expected) return;
    const path = log === -1 ? `receipts[${index}]` : `receipts[${index}].logs[${log}]`;
    disagree(block, `${path}.${name}`, got, expected ?? 'null', because);
  };
  check('blockHash', receipt.blockHash, hash, 'the receipt is of another block');
  check('blockNumber', receipt.blockNumber, number, BLOCK_NUMBER);
  check('transactionHash', receipt.transactionHash, tx.hash, TRANSACTION_HASH);
  check('transactionIndex', receipt.transactionIndex, tx.transactionIndex, PLACE);
  check('blockTimestamp', receipt.blockTimestamp, timestamp, TIMESTAMP);
  // of a type that has none, or several, a node repeats what it likes
  const hasTo = tx.other?.own === undefined || tx.other.own.to != null;
  if (hasTo) check('to', receipt.to, tx.to, "it is the transaction's recipient");
  if (receipt.type != null && tx.type != null) {
    check('type', receipt.type, tx.type, "it is the transaction's type");
  }
  if (receipt.from != null && receipt.from !== tx.from) {
    throw disputedSender(block.number, tx, getSigner(tools, tx), {
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
    check('blockHash', log.blockHash, hash, 'the log is of another block', at);
    check('blockNumber', log.blockNumber, number, BLOCK_NUMBER, at);
    check('transactionHash', log.transactionHash, tx.hash, TRANSACTION_HASH, at);
    check('transactionIndex', log.transactionIndex, tx.transactionIndex, PLACE, at);
    check('blockTimestamp', log.blockTimestamp, timestamp, TIMESTAMP, at);
    const expected = numbers.next(parseIndex(log.logIndex), at);
    if (expected !== null && numbers.areComputed()) {
      log.logIndex = toQuantity(expected);
      correct(block, 'logIndex');
    } else if (expected !== null) {
      check('logIndex', log.logIndex, toQuantity(expected), 'logs are numbered through the block', at);
    }
    if (log.transactionLogIndex != null) {
      const because = 'it is its place among the logs of its transaction';
      check('transactionLogIndex', log.transactionLogIndex, toQuantity(at), because, at);
    }
    if (log.removed) check('removed', 'true', 'false', 'a log of a block that stands is not removed', at);
  }
}

/** How the logs of a block are numbered, one after the other. */
interface LogNumbers {
  /** The number that is expected in place of this one, of the log at this place of its receipt; null if it is right. */
  next(number: number, at: number): number | null;
  /** Whether the number in its place was restarted by the node alone, and is to be written in the place of it. */
  areComputed(): boolean;
  /** Whether the numbers are not those of Ethereum. */
  isOdd(): boolean;
}

/**
 * Logs are numbered through the block. With gaps each has a higher number; those that restart do so in all receipts.
 * `computes`: some nodes restart on every chain (dshackle#714, besu#6204); the root says which logs there are.
 */
export function createLogNumbers(how: Checks['logIndex'], computes: boolean): LogNumbers {
  const mayCompute = how === 'block' && computes;
  let count = 0;
  let last = -1;
  let restarts: boolean | undefined = how === 'restarts' || mayCompute ? undefined : false;
  let isOdd = false;
  let isComputed = false;
  return {
    areComputed: () => isComputed,
    isOdd: () => isOdd,
    next(number, at) {
      const usual = count++;
      if (number !== usual || at !== usual) restarts ??= number === at;
      const expected = restarts === true ? at : usual;
      const isRight = how === 'gaps' ? number > last : number === expected;
      isComputed = mayCompute && isRight && number !== usual;
      if (isComputed) return usual;
      if (!isRight) return how === 'gaps' ? last + 1 : expected;
      last = number;
      isOdd ||= number !== usual;
      return null;
    },
  };
}

/** The number in an index; one that is absurdly long never matches. */
function parseIndex(quantity: string): number {
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
    block.checks.sums &&
    !block.lacksReceipts &&
    !(tx.kind === DEPOSIT && tx.other === undefined && receipt.depositNonce == null);
  if (exact ? total !== before + used : total < before) {
    const expected = exact ? toQuantity(before + used) : `at least 0x${before.toString(16)}`;
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
  const because = `the receipts use ${toQuantity(sum)}`;
  if (total === 'equal' && used !== sum) disagree(block, 'gasUsed', record.gasUsed, toQuantity(sum), because);
  if (total !== 'bounds') return;
  const least = Math.ceil(sum / 2);
  if (used >= least && used <= reader.number(record.gasLimit, 'gasLimit')) return;
  const expected = `from ${toQuantity(least)} to ${record.gasLimit}`;
  disagree(block, 'gasUsed', record.gasUsed, expected, `${because} (EIP-7778, EIP-8037)`);
}

/**
 * Checks the address of a new contract against the transaction's sender and nonce. A call creates none, which holds also on
 * chains whose addresses do not follow as Ethereum's do.
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
  const { addresses } = block.checks;
  if (tx.other !== undefined || (!addresses && block.unproved.hashes !== undefined)) return;
  const field = `receipts[${index}].contractAddress`;
  const got = receipt.contractAddress;
  if (tx.to !== null) {
    const zeros = got === NO_ADDRESS && receipt.from === undefined;
    if (got !== null && !zeros) disagree(block, field, got, 'null', 'the transaction creates no contract');
    return;
  }
  if (!addresses) return;
  if (got === null && isUndone(receipt)) return;
  const nonce = tx.kind === DEPOSIT ? receipt.depositNonce : tx.nonce;
  if (nonce == null) return;
  const address = (sender: string) => contractAddress(tools, sender, nonce);
  const expected = address(tx.from);
  if (got === expected) return;
  throw disputedSender(block.number, tx, getSigner(tools, tx), {
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
 * The addresses of new contracts by the place of their transaction, those that failed too, as most clients say them; not of
 * deposits, whose nonce is in the receipt.
 */
export function getNewContracts(
  tools: Tools,
  { checks }: BlockInHand,
  transactions: readonly TransactionRecord[],
): Map<number, string> {
  const found = new Map<number, string>();
  if (!checks.addresses) return found;
  for (const [place, tx] of transactions.entries()) {
    if (tx.to !== null || tx.kind === DEPOSIT || tx.other !== undefined || tx.nonce == null) continue;
    found.set(place, contractAddress(tools, tx.from, tx.nonce));
  }
  return found;
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
