import { BLOOM_BYTES, EMPTY_BLOOM } from '../encode/bloom.js';
import { encodeReceipt } from '../encode/encode-block.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { trieRoot } from '../encode/trie-root.js';
import { logPlace, logText } from '../record/log.js';
import { plainReceipt } from '../record/plain.js';
import { OF_BLOCK, OF_RECEIPTS } from '../record/reader.js';
import { hasRoot, isUndone, type ReceiptRecord, readReceipt, receiptText } from '../record/receipt.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { mayLackReceipts } from '../rules/find-rules.js';
import { checkPaid } from './check-price.js';
import {
  checkContract,
  checkGas,
  checkReceipt,
  checkTotal,
  createLogNumbers,
  getNewContracts,
} from './check-receipt.js';
import { checkDeposit, checkFootprint, checkReceiptFields } from './check-type.js';
import { completeReceipt } from './complete.js';
import { gasOutside } from './outside.js';
import { type BlockInHand, checkRoot, correct, disagree, failProof, notMade, type Tools } from './tools.js';

/** The proved receipts of a block. */
interface ProvedReceipts {
  /** By transaction; undefined where a chain makes none. */
  records: (ReceiptRecord | undefined)[];
  receipts: string;
  logs: string;
}

const OUTSIDE = 'receipts of transactions that the chain itself made are in no root';

/** Proves that the receipts and their logs are those that the header commits to. */
export function proveReceipts(
  tools: Tools,
  block: BlockInHand,
  transactions: readonly TransactionRecord[],
  answer: unknown,
): ProvedReceipts {
  const { rlp, keccak } = tools;
  const { reader, record } = block;
  reader.kinds = OF_RECEIPTS;
  const list = reader.array(answer, 'the receipts');
  const places = placeReceipts(block, transactions, list);
  const records: (ReceiptRecord | undefined)[] = transactions.map(() => undefined);
  const blockBloom = Buffer.alloc(BLOOM_BYTES);
  const computes = tools.policy.derived !== 'leave';
  const prices = block.checks.prices === 'equal';
  const facts = { prices, blobPrice: block.blobPrice, correct: (field: string) => correct(block, field) };
  const rooted = !block.notProved.has('receiptsRoot');
  const numbers = createLogNumbers(block.checks.logIndex, computes && rooted && block.outside.size === 0);
  const blooms = block.unproved.blooms === undefined;
  const typed = block.unproved.hashes === undefined;
  let logs = 0;
  let gas = 0;
  let footprint: number | undefined;
  const created = reader.keepExtras ? undefined : getNewContracts(tools, block, transactions);
  rlp.clear();
  let receiptsText = '[';
  let logsText = '[';
  for (let index = 0; index < list.length; index++) {
    const place = places === null ? index : places[index]!;
    const tx = transactions[place]!;
    const { hash, transactionIndex } = tx;
    const hints = { blockHash: record.hash, blockNumber: record.number, hash, index: transactionIndex };
    const whole = computes ? completeReceipt(list[index], tx, facts) : list[index];
    const receipt = readReceipt(reader, whole, hints, index, logs);
    if (receipt.contractAddress === null && isUndone(receipt))
      receipt.contractAddress = created?.get(place) ?? null;
    checkReceipt(tools, block, tx, receipt, index, numbers);
    if (typed) checkReceiptFields(block, tx, receipt, index);
    if (tx.kind !== DEPOSIT && receipt.hasFootprint && receipt.blobGasUsed != null) {
      footprint = (footprint ?? 0) + reader.number(receipt.blobGasUsed, 'blobGasUsed');
    }
    const inRoot = block.outside.size === 0 || !block.outside.has(place);
    if (inRoot) {
      gas = checkGas(block, tx, receipt, index, gas);
      checkPaid(block, tx, receipt, index);
    } else checkGasOutside(block, receipt, index);
    if (hasRoot(receipt) && receipt.status != null) block.unchecked.add('status');
    if (blooms) proveBloom(tools, block, receipt, index, inRoot ? blockBloom : Buffer.alloc(BLOOM_BYTES));
    if (rooted && inRoot) encodeReceipt(rlp, receipt, tx.kind, tx.other?.baseFeeInReceipt);
    const { head, tail } = receiptText(reader.keepExtras ? receipt : plainReceipt(receipt, tx));
    const ofReceipt = toLogs(receipt);
    if (ofReceipt !== '') logsText += logs > 0 ? `,${ofReceipt}` : ofReceipt;
    receiptsText += `${index > 0 ? ',' : ''}${head}${ofReceipt}${tail}`;
    logs += receipt.logs.length;
    records[place] = receipt;
  }
  reader.at('block', 0);
  checkTotal(block, places === null ? gas : withLacking(transactions, records));
  if (block.hasDeposits) checkFootprint(block, footprint);
  if (blooms && !equalsHex(blockBloom, record.logsBloom)) {
    bloomFailed(block, 'logsBloom', blockBloom, record.logsBloom, `the ${logs} logs of the block`);
  }
  if (rooted) checkRoot(block, 'receiptsRoot', trieRoot(rlp, keccak), `${list.length} receipts`);
  // after the root, which says what is true, and because each computed address takes room in the buffer
  for (let index = 0; index < records.length; index++) {
    const record = records[index];
    if (record === undefined) continue;
    checkDeposit(block, transactions[index]!, record, index);
    checkContract(tools, block, transactions[index]!, record, index);
  }
  if (block.lacksReceipts) notMade(block, 'consistency', block.rules.lacksReceipts!);
  if (numbers.isOdd()) notMade(block, 'consistency', ODD_NUMBERS[block.checks.logIndex]);
  if (block.outside.size > 0) {
    for (const proof of ['receiptsRoot', 'logsBloom'] as const) notMade(block, proof, OUTSIDE);
  }
  reader.kinds = OF_BLOCK;
  return { records, receipts: `${receiptsText}]`, logs: `${logsText}]` };
}

/** Why the consistency of a block whose logs have such numbers is not proved. */
const ODD_NUMBERS = {
  block: '',
  gaps: 'the numbers of the logs have gaps, as those that were undone count too: that none is missing is not proved',
  restarts:
    'the logs are numbered from 0 in each transaction, not through the block, so their numbers prove no order',
} as const;

/**
 * The place of the transaction of each receipt, null if all have one.
 *
 * Only where the chain makes none for a transaction that exceeds the gas of its block may some be missing.
 */
function placeReceipts(
  block: BlockInHand,
  transactions: readonly TransactionRecord[],
  list: readonly unknown[],
): number[] | null {
  if (list.length === transactions.length) return null;
  const { reader, record, rules } = block;
  const expected = String(transactions.length);
  if (list.length > transactions.length || !mayLackReceipts(rules, record)) {
    disagree(block, 'receipts.length', String(list.length), expected, 'a transaction has one receipt');
  }
  block.lacksReceipts = true;
  let next = 0;
  return list.map((value, at) => {
    reader.at('receipt', at);
    const hash = reader.bytes(reader.object(value, 'the receipt').transactionHash, 'transactionHash', 32);
    const place = transactions.findIndex((tx, index) => index >= next && tx.hash === hash);
    if (place === -1) {
      const because = 'receipts are in the order of their transactions';
      disagree(block, `receipts[${at}].transactionHash`, hash, 'that of a later transaction', because);
    }
    next = place + 1;
    return place;
  });
}

/** The gas of a block that lacks receipts: a transaction that exceeds the gas of its block uses all that it may. */
function withLacking(
  transactions: readonly TransactionRecord[],
  records: readonly (ReceiptRecord | undefined)[],
): number {
  return transactions.reduce((sum, { gas }, index) => sum + Number(records[index]?.gasUsed ?? gas), 0);
}

/** A transaction that no root has uses no gas that its block counts. */
function checkGasOutside(block: BlockInHand, receipt: ReceiptRecord, index: number): void {
  const expected = gasOutside(block);
  if (expected === undefined) return;
  for (const name of ['gasUsed', 'cumulativeGasUsed'] as const) {
    if (receipt[name] === expected) continue;
    const because = 'what the system sends uses no gas';
    disagree(block, `receipts[${index}].${name}`, receipt[name], expected, because);
  }
}

/** The joined logs of a receipt, for the text of `logs` and that of the receipt. */
function toLogs({ logs }: ReceiptRecord): string {
  if (logs.length === 0) return '';
  // all were checked to belong to one transaction
  const place = logPlace(logs[0]!);
  let text = logText(logs[0]!, place);
  for (let at = 1; at < logs.length; at++) text += `,${logText(logs[at]!, place)}`;
  return text;
}

function proveBloom(
  { bloom }: Tools,
  block: BlockInHand,
  receipt: ReceiptRecord,
  index: number,
  blockBloom: Buffer,
): void {
  if (receipt.logs.length === 0) {
    if (receipt.logsBloom === EMPTY_BLOOM) return;
    const none = Buffer.alloc(BLOOM_BYTES);
    bloomFailed(block, `receipts[${index}].logsBloom`, none, receipt.logsBloom, 'no logs');
  }
  const computed = bloom.of(receipt.logs);
  if (!equalsHex(computed, receipt.logsBloom)) {
    const what = `the ${receipt.logs.length} logs of the receipt`;
    bloomFailed(block, `receipts[${index}].logsBloom`, computed, receipt.logsBloom, what);
  }
  for (let at = 0; at < BLOOM_BYTES; at++) blockBloom[at]! |= computed[at]!;
}

function bloomFailed(
  block: BlockInHand,
  field: string,
  computed: Uint8Array,
  expected: string,
  what: string,
): never {
  const message = `${field} is not the bloom of ${what}.`;
  failProof(block, { proof: 'logsBloom', field, expected, got: toHex(computed), message });
}
