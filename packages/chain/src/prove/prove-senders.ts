import { secp256k1 } from '@noble/curves/secp256k1';
import { encodeSigned } from '../encode/encode-transaction.js';
import { type Keccak, toHex } from '../encode/keccak.js';
import type { RlpBuffer } from '../encode/rlp-buffer.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { legacyChainId } from './prove-transactions.js';
import { type BlockInHand, disagree, type Tools } from './tools.js';

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
  const { rlp, keccak } = tools;
  let all = true;
  rlp.clear();
  for (let index = 0; index < transactions.length; index++) {
    const tx = transactions[index]!;
    if (tx.kind === DEPOSIT) continue;
    if (/^0x0+$/.test(tx.r!) && /^0x0+$/.test(tx.s!)) {
      all = false;
      continue;
    }
    const sender = recoverSender(rlp, keccak, tx);
    if (sender === tx.from) continue;
    const expected = sender ?? 'a valid signature';
    const because = 'it is who signed the transaction';
    disagree(block, `transactions[${index}].from`, tx.from, expected, because, 'senders');
  }
  return all;
}

/**
 * Address that signed a transaction: the last 20 bytes of keccak(public key). undefined if the signature is invalid.
 *
 * Adds an item to `rlp`. Source: Yellow Paper, appendix F; EIP-155 for `v` of legacy transactions.
 */
function recoverSender(rlp: RlpBuffer, keccak: Keccak, tx: TransactionRecord): string | undefined {
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
