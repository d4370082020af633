import { secp256k1 } from '@noble/curves/secp256k1';
import type { PackhouseError } from '@packhouse/runtime';
import { encodeSigned } from '../encode/encode-transaction.js';
import { toHex } from '../encode/keccak.js';
import { OF_BLOCK } from '../record/reader.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { legacyChainId } from './prove-transactions.js';
import { type BlockInHand, disagree, type FailedProof, proofFailed, type Tools } from './tools.js';

/**
 * Proves that each transaction was signed by the sender it names. Returns whether that was possible for all.
 *
 * A deposit has no signature, and its sender is in its encoding, which is proved. The first generation of the OP
 * stack has transactions from L1 with an empty signature, whose sender nothing proves.
 */
export function proveSenders(
  tools: Tools,
  block: BlockInHand,
  transactions: readonly TransactionRecord[],
): boolean {
  let all = true;
  tools.rlp.clear();
  for (let index = 0; index < transactions.length; index++) {
    const tx = transactions[index]!;
    const signer = signerOf(tools, tx);
    if (signer === undefined) all = false;
    else if (signer !== tx.from)
      disagree(block, `transactions[${index}].from`, tx.from, signer ?? NO_SIGNER, SIGNED, 'senders');
  }
  return all;
}

const NO_SIGNER = 'a valid signature';
const SIGNED = 'it is who signed the transaction';

/**
 * The sender that a proved transaction itself decides: who signed it, or the one in a deposit's encoding. null if its
 * signature is invalid, undefined if it has none. Adds an item to the buffer of `tools`.
 */
export function signerOf(tools: Tools, tx: TransactionRecord): string | null | undefined {
  if (tx.kind === DEPOSIT) return tx.from;
  if (/^0x0+$/.test(tx.r!) && /^0x0+$/.test(tx.s!)) return undefined;
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
function recoverSender({ rlp, keccak }: Tools, tx: TransactionRecord): string | undefined {
  const chainId = tx.kind === 0 ? legacyChainId(tx) : undefined;
  encodeSigned(rlp, tx, chainId);
  const message = keccak.hash(rlp.item(rlp.count - 1));
  const v = BigInt(tx.v!);
  const parity = tx.kind !== 0 ? v : chainId === undefined ? v - 27n : (v - 35n) & 1n;
  if (parity !== 0n && parity !== 1n) return undefined;
  try {
    const signature = new secp256k1.Signature(BigInt(tx.r!), BigInt(tx.s!)).addRecoveryBit(Number(parity));
    const publicKey = signature.recoverPublicKey(message).toBytes(false);
    return toHex(keccak.hash(publicKey.subarray(1)).subarray(12));
  } catch {
    // r or s out of range, or no point of the curve
    return undefined;
  }
}
