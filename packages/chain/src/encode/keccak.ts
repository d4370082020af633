import { createKeccak, type IHasher } from 'hash-wasm';
import { nibble } from '../record/hex.js';

/** Keccak-256 on one WebAssembly instance, reused for every hash. */
export class Keccak {
  constructor(private readonly hasher: IHasher) {}

  /** The 32 bytes of the hash. */
  hash(bytes: Uint8Array): Uint8Array {
    return this.hasher.init().update(bytes).digest('binary');
  }
}

/** Loads the WebAssembly once; the only asynchronous step. */
export async function createKeccak256(): Promise<Keccak> {
  return new Keccak(await createKeccak(256));
}

/** Whether `hex` (canonical, with `0x`) equals these bytes. */
export function equalsHex(bytes: Uint8Array, hex: string): boolean {
  if (hex.length !== 2 + 2 * bytes.length) return false;
  for (let at = 0; at < bytes.length; at++) {
    const digits = 2 + 2 * at;
    if (bytes[at] !== ((nibble(hex.charCodeAt(digits)) << 4) | nibble(hex.charCodeAt(digits + 1))))
      return false;
  }
  return true;
}

/** Bytes as canonical DATA. */
export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}
