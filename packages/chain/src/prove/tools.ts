import { PackhouseError } from '@packhouse/runtime';
import type { BloomMaker } from '../encode/bloom.js';
import { equalsHex, type Keccak, toHex } from '../encode/keccak.js';
import type { RecoverKey } from '../encode/recover-key.js';
import type { RlpBuffer } from '../encode/rlp-buffer.js';
import type { BlockRecord } from '../record/block.js';
import type { Scratch } from '../record/hex.js';
import type { Kind } from '../record/kinds.js';
import { OF_BLOCK, type Reader } from '../record/reader.js';
import type { Unchecked } from '../record/unchecked.js';
import type { Checks, RuleSet, Rules, Unproved } from '../rules/rule-set.js';
import type { Proof, ProofPolicy } from './proved-block.js';

/** How transactions name the chain that they were signed for, each as QUANTITY. */
export interface SignedChain {
  id: string;
  /** The two values of `v` that a legacy transaction of the chain has (EIP-155). */
  v: readonly [string, string];
}

/** Tools that a prover keeps between blocks; it proves one block at a time. */
export interface Tools {
  policy: ProofPolicy;
  rules: RuleSet;
  chain: SignedChain | undefined;
  keccak: Keccak;
  rlp: RlpBuffer;
  bloom: BloomMaker;
  scratch: Scratch;
  recoverKey: RecoverKey;
}

/** The block that is being proved. */
export interface BlockInHand {
  number: number;
  record: BlockRecord;
  reader: Reader;
  /** The rules of its chain in its era. */
  rules: Rules;
  /** What is not recomputed, by the rules or by the policy. */
  unproved: Unproved;
  checks: Checks;
  /** Reasons of the proofs that were not made. */
  notProved: Map<Proof, string>;
  /** The price of blobs; undefined if it does not follow from the header. */
  blobPrice: string | undefined;
  /** What else the checks leave open. */
  unchecked: Set<Unchecked>;
  /** Places of the transactions that are in no root. */
  outside: Set<number>;
  /** Fields that were wrong and were put right; undefined if they are refused. */
  corrected: string[] | undefined;
  /** Whether the block has OP-stack deposits, which bend some rules. */
  hasDeposits: boolean;
  /** Whether it has fewer receipts than transactions, as only some chains do. */
  lacksReceipts: boolean;
}

/**
 * The kinds that may be false if the record in hand disagrees with its block. A header that hashes to the block's hash
 * is true; one that is only trusted may be the false part itself.
 */
function suspects({ reader, unproved }: BlockInHand): readonly Kind[] {
  return unproved.header === undefined || reader.kinds === OF_BLOCK
    ? reader.kinds
    : [...OF_BLOCK, ...reader.kinds];
}

/** Notes that a proof is not made, and why; the first reason stays. */
export function notMade({ notProved }: BlockInHand, proof: Proof, because: string): void {
  if (!notProved.has(proof)) notProved.set(proof, because);
}

/** Notes a field that was wrong and is written as it is. */
export function correct({ corrected }: BlockInHand, field: string): void {
  if (corrected?.includes(field) === false) corrected.push(field);
}

/** Throws PROOF_FAILED: `field` of a record disagrees with another part of the block. */
export function disagree(
  block: BlockInHand,
  field: string,
  got: string | null | undefined,
  expected: string,
  because: string,
  proof: Proof = 'consistency',
): never {
  const shown = got ?? (got === null ? 'null' : 'nothing');
  const message = `${field} is ${shown}, expected ${expected}: ${because}.`;
  return failProof(block, { proof, field, expected, got: shown, message });
}

/** The same of a field of the transaction at this index. */
export function disagreeOf(
  block: BlockInHand,
  index: number,
  name: string,
  got: string | null | undefined,
  expected: string,
  because: string,
): never {
  return disagree(block, `transactions[${index}].${name}`, got, expected, because);
}

/** Throws PROOF_FAILED if a root that was recomputed from so many records (`3 receipts`) is not that of the header. */
export function checkRoot(
  block: BlockInHand,
  proof: 'transactionsRoot' | 'receiptsRoot' | 'withdrawalsRoot',
  root: Uint8Array,
  records: string,
): void {
  const expected = block.record[proof]!;
  if (equalsHex(root, expected)) return;
  const got = toHex(root);
  const message = `${proof} recomputed from ${records} is ${got}, the header says ${expected}.`;
  failProof(block, { proof, field: proof, expected, got, message });
}

/** Throws PROOF_FAILED for the record in hand. */
export function failProof(block: BlockInHand, failed: Omit<FailedProof, 'block' | 'kinds'>): never {
  throw proofFailed({ block: block.number, ...failed, kinds: suspects(block) });
}

/** The facts of a failed proof or check. */
export interface FailedProof {
  block: number;
  proof: Proof;
  /** Path of the field from the block's answer, such as `receipts[3].logs[0].logIndex`. */
  field: string;
  expected: string;
  got: string;
  /** The kinds of which a record took part in the contradiction, without those that are known to be true. */
  kinds: readonly Kind[];
  /** The sentence after `Block 123: `. */
  message: string;
  /** What to do; absent: another node may be right. */
  hint?: string;
  /** For a header's hash: fields that a header could have and no table names. */
  unknownFields?: readonly string[];
}

/** The error for data that disagrees with what the block header commits to, or with itself. */
export function proofFailed(failed: FailedProof): PackhouseError {
  const { message, hint = 'Another node may give the block as it should be.', ...data } = failed;
  return new PackhouseError({
    code: 'PROOF_FAILED',
    message: `Block ${failed.block}: ${message}`,
    hint,
    data,
  });
}
