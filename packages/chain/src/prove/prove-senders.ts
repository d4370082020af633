import { randomInt } from 'node:crypto';
import type { PackhouseError } from '@packhouse/runtime';
import type { Kind } from '../record/kinds.js';
import { OF_BLOCK } from '../record/reader.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { isUnsigned } from './check-chain.js';
import type { Proof, SenderCheck } from './proved-block.js';
import {
  countRows,
  drawRows,
  type FalseSender,
  findFalseSenders,
  getSignerOf,
  type SignatureRows,
  toSignatureRows,
} from './signature-rows.js';
import { type BlockInHand, type FailedProof, proofFailed, type Tools } from './tools.js';

/** Senders of a block that are recovered with the policy `sample`. */
const SAMPLE = 3;

/**
 * What is left to prove that transactions were signed by the senders they name: all, or a few that no node can foresee.
 * It proves `senders` if these are all of the block's, and `sampledSenders` if any are drawn.
 *
 * A deposit has no signature, and its sender is in its encoding, which is proved. The first generation of the OP stack
 * has transactions from L1 with an empty signature, whose sender nothing proves. `unproved` counts the transactions
 * whose sender is not in their encoding.
 */
export function toSenderCheck(
  { policy }: Pick<Tools, 'policy'>,
  { signatures, unproved, suspected }: { signatures: SignatureRows; unproved: number; suspected: boolean },
): SenderCheck {
  const rows = policy.senders === 'all' || suspected ? signatures : drawRows(signatures, SAMPLE, randomInt);
  const count = countRows(rows);
  const proofs: Proof[] = count === unproved ? ['senders', 'sampledSenders'] : ['sampledSenders'];
  return { rows, proofs: count === 0 && unproved > 0 ? [] : proofs };
}

/** Signatures of transactions that were read. */
export function getSignatures(
  tools: Tools,
  { outside }: BlockInHand,
  transactions: readonly TransactionRecord[],
): { signatures: SignatureRows; unproved: number } {
  const places = [...transactions.keys()].filter(
    (place) => isSigned(transactions[place]!) && !outside.has(place),
  );
  tools.rlp.clear();
  const unproved = transactions.filter((tx) => !hasSender(tx)).length;
  return { unproved, signatures: toSignatureRows(tools, transactions, places) };
}

/** Recovers the senders of a block here and now. Throws PROOF_FAILED if one is false. */
export function proveSenders(tools: Tools, block: number, { rows, proofs }: SenderCheck): readonly Proof[] {
  const [first] = findFalseSenders(tools, rows);
  if (first !== undefined) throw falseSender(block, first);
  return proofs;
}

/** The error for a transaction that names another sender than who signed it. */
export function falseSender(
  block: number,
  { place, from, signer }: FalseSender,
  kinds: readonly Kind[] = OF_BLOCK,
): PackhouseError {
  const field = `transactions[${place}].from`;
  const expected = signer ?? NO_SIGNER;
  return proofFailed({
    block,
    proof: 'senders',
    field,
    expected,
    got: from,
    kinds,
    message: `${field} is ${from}, expected ${expected}: ${SIGNED}.`,
  });
}

/** Whether the sender is in the encoding, which is proved. */
function hasSender({ kind, other }: TransactionRecord): boolean {
  return other === undefined ? kind === DEPOSIT : other.hasSender === true;
}

/** Whether a signature decides the sender: not of types that only some chains have, nor of a deposit. */
function isSigned(tx: TransactionRecord): boolean {
  return tx.other === undefined && tx.kind !== DEPOSIT && !isUnsigned(tx);
}

const NO_SIGNER = 'a valid signature';
const SIGNED = 'it is who signed the transaction';

/**
 * The sender that a proved transaction itself decides: who signed it, or the one in a deposit's encoding. null if its
 * signature is invalid, undefined if it has none. Adds an item to the buffer of `tools`.
 */
export function getSigner(tools: Tools, tx: TransactionRecord): string | null | undefined {
  if (hasSender(tx)) return tx.from;
  if (!isSigned(tx)) return undefined;
  return getSignerOf(tools, tx);
}

/** A field of another record that does not fit the sender of its transaction. */
interface OtherRecord extends Omit<FailedProof, 'block' | 'message'> {
  because: string;
  /** Whether the field fits this sender. */
  fits(sender: string): boolean;
}

/**
 * The error for a record that contradicts the sender of its transaction. The signature (`signer`, see `getSigner`)
 * decides which of the two is false; without one both may be.
 */
export function disputedSender(
  block: number,
  { from, transactionIndex }: { from: string; transactionIndex: string | number },
  signer: string | null | undefined,
  { because, fits, ...other }: OtherRecord,
): PackhouseError {
  const both = [...OF_BLOCK, ...other.kinds];
  if (signer === from || signer === undefined) {
    const message = `${other.field} is ${other.got}, expected ${other.expected}: ${because}.`;
    return proofFailed({ ...other, block, kinds: signer === from ? other.kinds : both, message });
  }
  const kinds = signer !== null && fits(signer) ? OF_BLOCK : both;
  return falseSender(block, { place: Number(transactionIndex), from, signer }, kinds);
}
