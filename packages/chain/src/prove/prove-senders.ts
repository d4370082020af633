import { randomInt } from 'node:crypto';
import type { PackhouseError } from '@packhouse/runtime';
import { encodeSigned } from '../encode/encode-transaction.js';
import { toHex } from '../encode/keccak.js';
import { OF_BLOCK } from '../record/reader.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { isUnsigned, legacyChainId } from './check-chain.js';
import type { Proof } from './proved-block.js';
import { type BlockInHand, disagree, type FailedProof, proofFailed, type Tools } from './tools.js';

/** Senders of a block that are recovered with the policy `sample`. */
const SAMPLE = 3;

/** The transactions of a block, as far as their senders can be proved. */
interface Signed {
  /** How many have a sender that is not in their encoding. */
  unproved: number;
  /** Places of those that somebody signed. */
  places: readonly number[];
  recordAt(place: number): TransactionRecord;
}

/** Of transactions that were read. */
export function signedOf({ outside }: BlockInHand, transactions: readonly TransactionRecord[]): Signed {
  const places = [...transactions.keys()].filter(
    (place) => isSigned(transactions[place]!) && !outside.has(place),
  );
  const unproved = transactions.filter((tx) => !hasSender(tx)).length;
  return { unproved, places, recordAt: (place) => transactions[place]! };
}

/**
 * Proves that transactions were signed by the senders they name: all, or a few that no node can foresee. Returns
 * `senders` if all of the block's were recovered, and `sampledSenders` if those that were drawn were.
 *
 * A deposit has no signature, and its sender is in its encoding, which is proved. The first generation of the OP
 * stack has transactions from L1 with an empty signature, whose sender nothing proves.
 */
export function proveSenders(
  tools: Tools,
  block: BlockInHand,
  { unproved, places, recordAt }: Signed,
): Proof[] {
  const drawn = tools.policy.senders === 'all' ? places : draw(places, SAMPLE);
  tools.rlp.clear();
  for (const place of drawn) {
    const tx = recordAt(place);
    const signer = recoverSender(tools, tx);
    if (signer === tx.from) continue;
    disagree(block, `transactions[${place}].from`, tx.from, signer ?? NO_SIGNER, SIGNED, 'senders');
  }
  if (drawn.length === unproved) return ['senders', 'sampledSenders'];
  return drawn.length > 0 ? ['sampledSenders'] : [];
}

/** So many of the items at random, or all if they are fewer. */
function draw<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  const drawn = new Set<T>();
  while (drawn.size < count) drawn.add(items[randomInt(items.length)]!);
  return [...drawn];
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
export function signerOf(tools: Tools, tx: TransactionRecord): string | null | undefined {
  if (hasSender(tx)) return tx.from;
  if (!isSigned(tx)) return undefined;
  return recoverSender(tools, tx) ?? null;
}

/** A field of another record that does not fit the sender of its transaction. */
interface OtherRecord extends Omit<FailedProof, 'block' | 'message'> {
  because: string;
  /** Whether the field fits this sender. */
  fits(sender: string): boolean;
}

/**
 * The error for a record that contradicts the sender of its transaction. The signature (`signer`, see `signerOf`)
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
  const field = `transactions[${Number(transactionIndex)}].from`;
  const expected = signer ?? NO_SIGNER;
  return proofFailed({
    block,
    proof: 'senders',
    field,
    expected,
    got: from,
    kinds: signer !== null && fits(signer) ? OF_BLOCK : both,
    message: `${field} is ${from}, expected ${expected}: ${SIGNED}.`,
  });
}

/**
 * Address that signed a transaction: the last 20 bytes of keccak(public key). undefined if the signature is invalid.
 *
 * Adds an item to `rlp`. Source: Yellow Paper, appendix F; EIP-155 for `v` of legacy transactions.
 */
function recoverSender({ rlp, keccak, recoverKey }: Tools, tx: TransactionRecord): string | undefined {
  const chainId = tx.kind === 0 ? legacyChainId(tx) : undefined;
  encodeSigned(rlp, tx, chainId);
  const message = keccak.hash(rlp.item(rlp.count - 1));
  const v = BigInt(tx.v!);
  const parity = tx.kind !== 0 ? v : chainId === undefined ? v - 27n : (v - 35n) & 1n;
  if (parity !== 0n && parity !== 1n) return undefined;
  const signature = Buffer.from(tx.r!.slice(2) + tx.s!.slice(2), 'hex');
  const key = recoverKey(message, signature, parity === 0n ? 0 : 1);
  return key && toHex(keccak.hash(key).subarray(12));
}
