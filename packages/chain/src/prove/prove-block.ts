import { EMPTY_BLOOM } from '../encode/bloom.js';
import { EMPTY_ROOT } from '../encode/trie-root.js';
import { blockText, readBlock } from '../record/block.js';
import { plainBlock } from '../record/plain.js';
import { Reader } from '../record/reader.js';
import { hasRoot, type ReceiptRecord } from '../record/receipt.js';
import type { TransactionRecord } from '../record/transaction.js';
import { UNCHECKED } from '../record/unchecked.js';
import { getBlobPrice } from '../rules/blob-price.js';
import { NO_CHECKS, UNKNOWN_FORK } from '../rules/ethereum.js';
import { rulesAt } from '../rules/find-rules.js';
import type { Rules, Unproved } from '../rules/rule-set.js';
import { completeBlock } from './complete.js';
import { lacksWithdrawals, proveFrame } from './prove-frame.js';
import { proveHeader } from './prove-header.js';
import { proveReceipts } from './prove-receipts.js';
import { getSignatures, getSigner, proveSenders, toSenderCheck } from './prove-senders.js';
import { proveTransactions } from './prove-transactions.js';
import {
  type BlockSummary,
  type NotProved,
  PROOFS,
  type Proof,
  type ProofPolicy,
  type ProvedBlock,
  type RecordTexts,
  type SenderCheck,
  type TransactionFacts,
} from './proved-block.js';
import { type BlockInHand, disagree, type Tools } from './tools.js';

/** A node's answers for one block. */
export interface BlockAnswer {
  /** Result of eth_getBlockByNumber or eth_getBlockByHash with full transactions. */
  block: unknown;
  /** Result of eth_getBlockReceipts; absent if receipts are not requested. */
  receipts?: unknown;
}

/** How the senders of a block are proved. */
export interface SenderOptions {
  /** All of them, also under `sample`: something about this block, or the node that gave it, was false before. */
  suspected?: boolean;
  /** Not now: the caller does it, from `senders`. */
  later?: boolean;
}

/**
 * Proves a block from the header down: hash, transactions, receipts and logs, withdrawals. Then checks the fields in
 * which parts repeat each other.
 *
 * @throws RECORD_INVALID, PROOF_FAILED
 */
export function proveBlock(
  tools: Tools,
  answer: BlockAnswer,
  { suspected = false, later = false }: SenderOptions = {},
): ProvedBlock {
  const { block, header } = openBlock(tools, answer.block);
  const { record, unproved } = block;
  const body = proveTransactions(tools, block);
  const proofs = proveFrame(tools, block, answer.block, {
    header: header.length,
    transactions: body.bodyLength,
  });
  const { head, tail } = blockText(block.reader.keepExtras ? record : plainBlock(record));
  const texts: RecordTexts = {
    blockHead: head,
    transactions: body.text,
    blockTail: tail,
  };

  let receipts: readonly (ReceiptRecord | undefined)[] | undefined;
  if (answer.receipts !== undefined) {
    const proved = proveReceipts(tools, block, body.records, answer.receipts);
    receipts = proved.records;
    texts.receipts = proved.receipts;
    texts.logs = proved.logs;
    proofs.add('receiptsRoot').add('logsBloom');
  } else if (body.records.length === 0 && !block.notProved.has('transactionsRoot')) {
    if (!block.notProved.has('receiptsRoot')) checkNoReceipts(block);
    proofs.add('receiptsRoot').add('logsBloom');
  }
  noteUnchecked(block, texts);
  let senders: SenderCheck | undefined;
  if (tools.policy.senders !== 'off' && unproved.hashes === undefined) {
    const check = toSenderCheck(tools, { ...getSignatures(tools, block, body.records), suspected });
    if (later) senders = check;
    else for (const proof of proveSenders(tools, block.number, check)) proofs.add(proof);
  }
  return {
    ...toSummary(block, header.unknownFields, proofs),
    ...(senders === undefined ? {} : { senders }),
    transactions: body.records.map((tx, index) => getFacts(block, tx, receipts?.[index])),
    getSigner(index) {
      tools.rlp.clear();
      return getSigner(tools, body.records[index]!);
    },
    texts,
  };
}

/** What is said of a block that passed these proofs, apart from its transactions. */
export function toSummary(
  block: BlockInHand,
  unknownFields: readonly string[],
  proofs: ReadonlySet<Proof>,
): BlockSummary {
  const { number, reader, record } = block;
  return {
    number,
    hash: record.hash,
    parentHash: record.parentHash,
    timestamp: reader.number(record.timestamp, 'timestamp'),
    difficulty: record.difficulty,
    totalDifficulty: record.totalDifficulty,
    proofs: PROOFS.filter((proof) => proofs.has(proof) && !block.notProved.has(proof)),
    notProved: getReasons(block),
    unknownFields,
    missing: [
      ...(lacksWithdrawals(block) ? (['withdrawals'] as const) : []),
      ...(block.lacksReceipts ? (['receipts'] as const) : []),
    ],
    corrected: block.corrected ?? [],
  };
}

/** Reads a block and proves its header, if the rules and the policy let it be recomputed. */
export function openBlock(
  tools: Tools,
  value: unknown,
): { block: BlockInHand; header: ReturnType<typeof proveHeader> } {
  const reader = new Reader(tools.policy.extraFields === 'keep', tools.scratch);
  const rules = rulesAt(tools.rules, value);
  const unproved = getUnproved(rules, tools.policy);
  const recompute = unproved.header === undefined;
  // What the rules do not recompute, they know; what a policy trusts may be of any chain.
  const trusts = !recompute && rules.unproved.header === undefined;
  const form = { seals: recompute ? 'required' : 'optional', header: rules.header } as const;
  const computes = tools.policy.derived !== 'leave';
  const given = computes ? completeBlock(value) : value;
  const record = readBlock(reader, given, form);
  const { total, logIndex } = rules.checks;
  const block: BlockInHand = {
    number: reader.number(record.number, 'number'),
    record,
    reader,
    rules,
    unproved,
    checks: trusts ? { ...NO_CHECKS, total, logIndex } : rules.checks,
    notProved: namedReasons(unproved),
    blobPrice: undefined,
    unchecked: new Set(),
    outside: new Set(),
    corrected: computes ? [] : undefined,
    hasDeposits: false,
    lacksReceipts: false,
  };
  const header = recompute ? proveHeader(tools, block, given) : { length: 0, unknownFields: [] };
  if (recompute) checkUncles(block);
  if (block.checks.prices === 'equal') block.blobPrice = getBlobPrice(tools.policy.chainId, block.record);
  return { block, header };
}

/** A block without transactions has no receipts, whether they were requested or not. */
function checkNoReceipts(block: BlockInHand): void {
  const { receiptsRoot, logsBloom } = block.record;
  const because = 'the block has no transactions';
  if (receiptsRoot !== EMPTY_ROOT) {
    disagree(block, 'receiptsRoot', receiptsRoot, EMPTY_ROOT, because, 'receiptsRoot');
  }
  if (logsBloom !== EMPTY_BLOOM) disagree(block, 'logsBloom', logsBloom, EMPTY_BLOOM, because, 'logsBloom');
}

function getFacts(
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
  if (block.checks.logs) facts.logAddresses = logAddresses(receipt, block.record.blockAccessListHash != null);
  return facts;
}

const NO_ADDRESSES: readonly string[] = [];

/** Logs of transfers are in this name since Amsterdam, and no call makes them (EIP-7708). */
const SYSTEM_ADDRESS = '0xfffffffffffffffffffffffffffffffffffffffe';

/** Addresses that logged, each once. */
function logAddresses({ logs }: ReceiptRecord, isAmsterdam: boolean): readonly string[] {
  if (logs.length === 0) return NO_ADDRESSES;
  const addresses = new Set(logs.map(({ address }) => address));
  if (isAmsterdam) addresses.delete(SYSTEM_ADDRESS);
  return [...addresses];
}

/** keccak(RLP([])): the hash of an empty list of uncles. */
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

/** What is not recomputed: by the rules, and by the policy. */
function getUnproved(rules: Rules, policy: ProofPolicy): Unproved {
  const trusted = (part: string) => `the network's policy trusts the ${part} that the node says`;
  const unproved = { ...rules.unproved };
  if (policy.header === 'trust') unproved.header ??= trusted('hash');
  if (policy.transactions === 'trust') {
    unproved.hashes ??= trusted('hashes of transactions');
    unproved.transactions ??= trusted('root of the transactions');
  }
  if (policy.receipts === 'trust') {
    unproved.receipts ??= trusted('root of the receipts');
    unproved.blooms ??= trusted('blooms');
  }
  return unproved;
}

const PROOF_OF = {
  header: 'headerHash',
  hashes: 'consistency',
  transactions: 'transactionsRoot',
  receipts: 'receiptsRoot',
  blooms: 'logsBloom',
} as const satisfies Record<keyof Unproved, Proof>;

function namedReasons(unproved: Unproved): Map<Proof, string> {
  const named = new Map<Proof, string>();
  for (const [part, because] of Object.entries(unproved)) {
    named.set(PROOF_OF[part as keyof Unproved], because);
  }
  return named;
}

function getReasons(block: BlockInHand): ProvedBlock['notProved'] {
  const reasons = PROOFS.flatMap((proof) => {
    const because = block.notProved.get(proof);
    return because === undefined ? [] : [{ proof, because }];
  });
  return block.unchecked.size === 0 ? reasons : [...reasons, ...getUnchecked(block)];
}

/** Checks the list of uncles as far as their hashes allow: it is empty exactly if the header says so. */
function checkUncles(block: BlockInHand): void {
  const { uncles, sha3Uncles } = block.record;
  if ((uncles.length === 0) === (sha3Uncles === NO_UNCLES)) return;
  const expected = sha3Uncles === NO_UNCLES ? 'no uncles' : 'one or two uncles';
  disagree(block, 'uncles', `${uncles.length} uncles`, expected, `the header's sha3Uncles is ${sha3Uncles}`);
}

/** The canonical JSON of a block's records, parsed or scanned. */
interface Texts {
  transactions: string | Buffer;
  receipts?: string | Buffer | undefined;
}

/** Notes what the checks of a block left open, by its texts, so that it is the same however they were made. */
export function noteUnchecked(block: BlockInHand, { transactions, receipts }: Texts): void {
  const { checks, record, rules, unchecked } = block;
  // Of a fork that is not known, or a chain whose hashes are not, it is said of the whole.
  const isStrange = checks === UNKNOWN_FORK || rules.unproved.hashes !== undefined;
  if (isStrange) unchecked.clear();
  if (isStrange || transactions.length <= '[]'.length) return;
  if (checks.prices === 'most') unchecked.add('prices');
  if (receipts === undefined) return;
  if (checks.prices === 'base') unchecked.add('basePrices');
  if (!checks.sums) unchecked.add('sums');
  if (!checks.addresses && transactions.includes('"to":null')) unchecked.add('contracts');
  const { fees = block.hasDeposits ? ['l1Fee'] : [] } = rules;
  if (fees.some((name) => receipts.includes(`"${name}":`))) unchecked.add('fees');
  const mayHaveBlobs = !block.hasDeposits && record.blobGasUsed != null && record.blobGasUsed !== '0x0';
  if (mayHaveBlobs && block.blobPrice === undefined && receipts.includes('"blobGasPrice":"'))
    unchecked.add('blobPrice');
  if (block.hasDeposits && !receipts.includes('"depositNonce":"')) unchecked.add('depositGas');
}

/** What the checks left open, in the order of the table. */
function getUnchecked({ unchecked }: BlockInHand): NotProved[] {
  const reasons: NotProved[] = [];
  if (unchecked.size === 0) return reasons;
  for (const [name, { because }] of Object.entries(UNCHECKED)) {
    if (unchecked.has(name as keyof typeof UNCHECKED)) reasons.push({ proof: 'consistency', because });
  }
  return reasons;
}
