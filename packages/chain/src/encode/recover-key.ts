import { createRequire } from 'node:module';
import { secp256k1 } from '@noble/curves/secp256k1';

/**
 * Recovers the public key of a signature: 64 bytes, x and y. `signature` is r and s, 64 bytes; `parity` says which of
 * the two points of the curve at r was meant. undefined if there is no such key: r or s is out of range, or no point is
 * at r.
 */
export type RecoverKey = (
  message: Uint8Array,
  signature: Uint8Array,
  parity: 0 | 1,
) => Uint8Array | undefined;

/** The part of `secp256k1` that is used; it takes a key's 65 bytes and throws if there is none. */
interface Native {
  ecdsaRecover(signature: Uint8Array, parity: number, message: Uint8Array, compressed: false): Uint8Array;
}

/** Whether this machine has libsecp256k1: about 50 µs a sender instead of 1,500. */
export function hasNativeRecovery(): boolean {
  return createRecoverKey() !== portableRecoverKey;
}

/**
 * libsecp256k1, or where its package has no binary for this machine, noble: the same answers, 30 times slower. The
 * package's own fallback is not used.
 */
export function createRecoverKey(
  load: (name: string) => unknown = createRequire(import.meta.url),
): RecoverKey {
  try {
    return nativeRecoverKey(load('secp256k1/bindings.js') as Native);
  } catch {
    return portableRecoverKey;
  }
}

function nativeRecoverKey(native: Native): RecoverKey {
  return (message, signature, parity) => {
    try {
      return native.ecdsaRecover(signature, parity, message, false).subarray(1);
    } catch {
      return undefined;
    }
  };
}

const portableRecoverKey: RecoverKey = (message, signature, parity) => {
  try {
    const point = secp256k1.Signature.fromCompact(signature).addRecoveryBit(parity).recoverPublicKey(message);
    return point.toBytes(false).subarray(1);
  } catch {
    return undefined;
  }
};
