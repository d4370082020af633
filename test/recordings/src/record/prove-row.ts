import { createHash } from 'node:crypto';
import {
  canonicalRecord,
  createProver,
  hasRules,
  type ProvedBlock,
  type Prover,
  toQuantity,
} from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Recorded } from '../recordings.js';
import type { ListedRow } from './list.js';

/** One block that the list names. */
export interface WantedBlock
  extends Pick<
    ListedRow,
    'network' | 'hash' | 'totalDifficulty' | 'lacks' | 'block' | 'receipts' | 'traces'
  > {
  number: number;
}

/** What a node or a file says of a block; nothing of it is checked. */
export interface Answers {
  block: unknown;
  receipts?: unknown;
  traces?: unknown;
}

/** A block that may be written, and what the one before it must be. */
export interface ProvedRow {
  recorded: Recorded;
  parentHash: string;
  /** Of the parent, if it has a total difficulty. */
  parentTotal?: string;
}

/** Proves the blocks of one chain. */
export interface RowProver {
  /** What the prover says of a block; throws PROOF_FAILED and RECORD_INVALID. */
  prove(answers: Answers): ProvedBlock;
  /** Whether the hash of a block proves its fields, and its roots all that is below. */
  isProved(proved: ProvedBlock): boolean;
  /**
   * Returns what may be written of the answers: the fields that the list is about, each proved.
   *
   * @throws PROOF_FAILED, RECORD_INVALID, NODE_ANSWER_MISSING, NODE_ANSWER_INVALID
   */
  proveRow(wanted: WantedBlock, answers: Answers): ProvedRow;
}

/** Without rules for the chain nothing is recomputed: only a SHA-256 can say that a block is the one of the list. */
export async function createRowProver(chainId: number): Promise<RowProver> {
  const known = hasRules(chainId);
  const check = known ? 'recompute' : 'trust';
  const prover = await createProver({
    chainId,
    header: check,
    transactions: check,
    receipts: check,
    // No root covers the senders that a node names.
    senders: known ? 'all' : 'off',
    extraFields: 'drop',
  });
  const self: RowProver = {
    prove: ({ block, receipts }) =>
      prover.proveBlock(receipts === undefined ? { block } : { block, receipts }),
    isProved: ({ notProved, proofs }) => known && notProved.every(({ proof }) => proofs.includes(proof)),
    proveRow: (wanted, answers) => proveRow(self, prover, wanted, answers),
  };
  return self;
}

function proveRow(self: RowProver, prover: Prover, wanted: WantedBlock, answers: Answers): ProvedRow {
  const { number } = wanted;
  const block = settleTotal(wanted, checkIdentity(wanted, answers.block));
  const proved = self.prove({
    block,
    ...(wanted.receipts !== undefined && { receipts: checkPresent(wanted, 'receipts', answers.receipts) }),
  });
  const recorded: Recorded = { number, block };
  checkUnproved(self, wanted, proved);
  if (proved.missing.includes('withdrawals') && wanted.lacks === undefined)
    throw missing(wanted, 'withdrawals');
  if (wanted.lacks !== undefined) {
    const { withdrawals: _, ...lacking } = block;
    recorded.block = lacking as Recorded['block'];
  }
  if (wanted.receipts !== undefined)
    recorded.receipts = answers.receipts as NonNullable<Recorded['receipts']>;
  if (wanted.traces !== undefined) {
    const traces = checkPresent(wanted, 'traces', answers.traces);
    prover.proveTraces(proved, traces);
    checkSha(wanted, 'traces', wanted.traces, hashTraces(traces));
    recorded.traces = traces as NonNullable<Recorded['traces']>;
  }
  const { parentHash, difficulty, totalDifficulty } = proved;
  const parentTotal = totalDifficulty == null ? undefined : BigInt(totalDifficulty) - BigInt(difficulty);
  return {
    recorded,
    parentHash,
    ...(parentTotal !== undefined && { parentTotal: `0x${parentTotal.toString(16)}` }),
  };
}

/** SHA-256 of the canonical text of traces, without fields that only some nodes have. */
export function hashTraces(traces: unknown): string {
  return sha256(canonicalRecord('traces', traces, { extraFields: 'drop' }));
}

/** SHA-256 of the proved text of a block, and of its receipts if they were given. */
export function hashProved({ texts }: ProvedBlock): { block: string; receipts?: string } {
  const block = sha256(texts.blockHead + texts.transactions + texts.blockTail);
  return { block, ...(texts.receipts !== undefined && { receipts: sha256(texts.receipts) }) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Whether it is the block of the list that is shown; nothing else is known of it after that. */
function checkIdentity(wanted: WantedBlock, block: unknown): Recorded['block'] {
  const found = checkPresent(wanted, 'block', block) as Partial<Recorded['block']>;
  const { hash, number } = found;
  if (!Array.isArray(found.transactions) || typeof hash !== 'string' || typeof number !== 'string') {
    throw new PackhouseError({
      code: 'NODE_ANSWER_INVALID',
      message: `${name(wanted)}: the answer is no block with number, hash and transactions.`,
      hint: 'Check that the address is that of an EVM node.',
    });
  }
  if (hash.toLowerCase() !== wanted.hash) throw differs(wanted, 'its hash', wanted.hash, hash);
  const expected = toQuantity(wanted.number);
  if (number !== expected) throw differs(wanted, 'its number', expected, number);
  return found as Recorded['block'];
}

/** The block with the total difficulty of the list, which newer nodes do not give any more. */
function settleTotal(wanted: WantedBlock, block: Recorded['block']): Recorded['block'] {
  const { totalDifficulty: got, ...rest } = block;
  const expected = wanted.totalDifficulty;
  if (expected === undefined) return rest as Recorded['block'];
  if (got == null) return { ...block, totalDifficulty: expected };
  if (got !== expected) throw differs(wanted, 'totalDifficulty', expected, String(got));
  return block;
}

/** What the rules of the chain do not prove must be the text that the list was made of. */
function checkUnproved(self: RowProver, wanted: WantedBlock, proved: ProvedBlock): void {
  const found = hashProved(proved);
  if (wanted.block !== undefined) checkSha(wanted, 'block', wanted.block, found.block);
  else if (!self.isProved(proved)) {
    throw new PackhouseError({
      code: 'PROOF_FAILED',
      message: `${name(wanted)}: nothing proves that it is the block of the list, which has no SHA-256 of it.`,
      hint: 'Make the list anew with --list-of.',
    });
  }
  if (typeof wanted.receipts === 'string')
    checkSha(wanted, 'receipts', wanted.receipts, found.receipts ?? '');
}

function checkSha(wanted: WantedBlock, part: string, expected: string, got: string): void {
  if (got === expected) return;
  throw differs(wanted, `SHA-256 of the canonical text of the ${part}`, expected, got);
}

function checkPresent(wanted: WantedBlock, part: string, value: unknown): unknown {
  if (value == null) throw missing(wanted, part);
  return value;
}

function missing(wanted: WantedBlock, part: string): PackhouseError {
  return new PackhouseError({
    code: 'NODE_ANSWER_MISSING',
    message: `${name(wanted)}: the node has no ${part === 'block' ? 'such block' : `${part} of it`}.`,
    hint: 'Use an archive node that is synced.',
  });
}

function differs(wanted: WantedBlock, what: string, expected: string, got: string): PackhouseError {
  return new PackhouseError({
    code: 'PROOF_FAILED',
    message: `${name(wanted)}: ${what} is ${got.slice(0, 100)}, the list says ${expected}.`,
    hint: 'Ask another node.',
  });
}

function name({ number, network }: WantedBlock): string {
  return `Block ${number} of ${network}`;
}
