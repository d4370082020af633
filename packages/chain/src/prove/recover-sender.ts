import { secp256k1 } from '@noble/curves/secp256k1';
import { encodeSigned } from '../encode/encode-transaction.js';
import { type Keccak, toHex } from '../encode/keccak.js';
import type { RlpBuffer } from '../encode/rlp-buffer.js';
import type { TransactionRecord } from '../read/transaction.js';
import { legacyChainId } from './legacy-chain-id.js';

/**
 * Address that signed a transaction: the last 20 bytes of keccak(public key). undefined where the signature is none.
 *
 * Adds an item to `rlp`. Source: Yellow Paper, appendix F; EIP-155 for `v` of legacy transactions.
 */
export function recoverSender(rlp: RlpBuffer, keccak: Keccak, tx: TransactionRecord): string | undefined {
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
