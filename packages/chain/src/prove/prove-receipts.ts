import { BLOOM_BYTES, EMPTY_BLOOM } from '../encode/bloom.js';
import { encodeReceipt } from '../encode/encode-block.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { trieRoot } from '../encode/trie-root.js';
import { logPlace, logText } from '../record/log.js';
import { OF_BLOCK, OF_RECEIPTS } from '../record/reader.js';
import { type ReceiptRecord, readReceipt, receiptText } from '../record/receipt.js';
import type { TransactionRecord } from '../record/transaction.js';
import { checkContract, checkGas, checkReceipt, checkTotal } from './check-receipt.js';
import { completeReceipt } from './complete.js';
import { type BlockInHand, disagree, proofFailed, suspects, type Tools } from './tools.js';

/** The proved receipts of a block. */
interface ProvedReceipts {
  records: ReceiptRecord[];
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
  if (list.length !== transactions.length) {
    const expected = String(transactions.length);
    disagree(block, 'receipts.length', String(list.length), expected, 'a transaction has one receipt');
  }
  const records: ReceiptRecord[] = [];
  const blockBloom = Buffer.alloc(BLOOM_BYTES);
  const computes = tools.policy.derived !== 'leave';
  const rooted = !block.notProved.has('receiptsRoot');
  const blooms = block.unproved.blooms === undefined;
  let logs = 0;
  let gas = 0;
  rlp.clear();
  let receiptsText = '[';
  let logsText = '[';
  for (let index = 0; index < list.length; index++) {
    const tx = transactions[index]!;
    const { hash, transactionIndex } = tx;
    const hints = { blockHash: record.hash, blockNumber: record.number, hash, index: transactionIndex };
    const whole = computes ? completeReceipt(list[index], tx, block.checks.prices) : list[index];
    const receipt = readReceipt(reader, whole, hints, index, logs);
    checkReceipt(tools, block, tx, receipt, index, logs);
    const inRoot = block.outside.size === 0 || !block.outside.has(index);
    if (inRoot) gas = checkGas(block, tx, receipt, index, gas);
    if (blooms) proveBloom(tools, block, receipt, index, inRoot ? blockBloom : Buffer.alloc(BLOOM_BYTES));
    if (rooted && inRoot) encodeReceipt(rlp, receipt, tx.kind, tx.other?.baseFeeInReceipt);
    const { head, tail } = receiptText(receipt);
    const ofReceipt = logsOf(receipt);
    if (ofReceipt !== '') logsText += logs > 0 ? `,${ofReceipt}` : ofReceipt;
    receiptsText += `${index > 0 ? ',' : ''}${head}${ofReceipt}${tail}`;
    logs += receipt.logs.length;
    records.push(receipt);
  }
  reader.at('block', 0);
  checkTotal(block, gas);
  if (blooms && !equalsHex(blockBloom, record.logsBloom)) {
    bloomFailed(block, 'logsBloom', blockBloom, record.logsBloom, `the ${logs} logs of the block`);
  }
  if (rooted) proveRoot(block, trieRoot(rlp, keccak), records.length);
  // after the root, because each computed address takes room in the buffer
  for (let index = 0; index < records.length; index++) {
    checkContract(tools, block, transactions[index]!, records[index]!, index);
  }
  if (block.outside.size > 0) {
    for (const proof of ['receiptsRoot', 'logsBloom'] as const) {
      if (!block.notProved.has(proof)) block.notProved.set(proof, OUTSIDE);
    }
  }
  reader.kinds = OF_BLOCK;
  return { records, receipts: `${receiptsText}]`, logs: `${logsText}]` };
}

/** The joined logs of a receipt, for the text of `logs` and that of the receipt. */
function logsOf({ logs }: ReceiptRecord): string {
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
  const got = toHex(computed);
  throw proofFailed({
    block: block.number,
    proof: 'logsBloom',
    field,
    expected,
    got,
    kinds: suspects(block),
    message: `${field} is not the bloom of ${what}.`,
  });
}

function proveRoot(block: BlockInHand, root: Uint8Array, count: number): void {
  const expected = block.record.receiptsRoot;
  if (equalsHex(root, expected)) return;
  const got = toHex(root);
  throw proofFailed({
    block: block.number,
    proof: 'receiptsRoot',
    field: 'receiptsRoot',
    expected,
    got,
    kinds: suspects(block),
    message: `receiptsRoot recomputed from ${count} receipts is ${got}, the header says ${expected}.`,
  });
}
