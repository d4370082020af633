import { EMPTY_BLOOM } from '../encode/bloom.js';
import { EMPTY_ROOT } from '../encode/trie-root.js';
import { blockText, readBlock } from '../record/block.js';
import { plainBlock } from '../record/plain.js';
import { type Raw, Reader } from '../record/reader.js';
import { hasRoot, type ReceiptRecord } from '../record/receipt.js';
import type { TransactionRecord } from '../record/transaction.js';
import { NO_CHECKS } from '../rules/ethereum.js';
import { rulesAt } from '../rules/find-rules.js';
import type { Rules, Unproved } from '../rules/rule-set.js';
import { checkSize } from './check-size.js';
import { completeBlock, NO_SIZE } from './complete.js';
import { proveHeader } from './prove-header.js';
import { proveReceipts } from './prove-receipts.js';
import { getSignatures, getSigner, proveSenders, toSenderCheck } from './prove-senders.js';
import { proveTransactions } from './prove-transactions.js';
import { lacksWithdrawals, proveWithdrawals } from './prove-withdrawals.js';
import {
  type BlockSummary,
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

/**
 * Proves what is neither a transaction nor a receipt, once the transactions are: withdrawals, and the size. Returns the
 * proofs that are passed then.
 */
export function proveFrame(
  tools: Tools,
  block: BlockInHand,
  answer: unknown,
  lengths: { header: number; transactions: number | undefined },
): Set<Proof> {
  const { reader, record, unproved } = block;
  const proofs = new Set<Proof>(['transactionsRoot', 'consistency']);
  if (unproved.header === undefined) proofs.add('headerHash');
  const withdrawals = proveWithdrawals(tools, block);
  if (withdrawals !== undefined) proofs.add('withdrawalsRoot');
  const sized = withdrawals ?? (record.withdrawals?.length === 0 ? 0 : undefined);
  checkSize(block, { ...lengths, withdrawals: sized });
  if (tools.policy.derived !== 'leave' && record.size === NO_SIZE && (answer as Raw).size == null) {
    reader.fail('size', 'a QUANTITY', undefined);
  }
  return proofs;
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
    checks: recompute ? rules.checks : { ...NO_CHECKS, total, logIndex },
    notProved: namedReasons(unproved),
    outside: new Set(),
    corrected: computes ? [] : undefined,
    hasDeposits: false,
    lacksReceipts: false,
  };
  const header = recompute ? proveHeader(tools, block, given) : { length: 0, unknownFields: [] };
  if (recompute) checkUncles(block);
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

function getReasons({ notProved }: BlockInHand): ProvedBlock['notProved'] {
  return PROOFS.flatMap((proof) => {
    const because = notProved.get(proof);
    return because === undefined ? [] : [{ proof, because }];
  });
}

/** Checks the list of uncles as far as their hashes allow: it is empty exactly if the header says so. */
function checkUncles(block: BlockInHand): void {
  const { uncles, sha3Uncles } = block.record;
  if ((uncles.length === 0) === (sha3Uncles === NO_UNCLES)) return;
  const expected = sha3Uncles === NO_UNCLES ? 'no uncles' : 'one or two uncles';
  disagree(block, 'uncles', `${uncles.length} uncles`, expected, `the header's sha3Uncles is ${sha3Uncles}`);
}
