import { keccak_256 } from '@noble/hashes/sha3.js';

/** The bytes of a DATA value. */
export function dataBytes(hex: unknown): Buffer {
  return Buffer.from(String(hex).slice(2), 'hex');
}

/** The bytes of a QUANTITY as RLP wants them: big-endian, no leading zero bytes, zero is empty. */
export function quantityBytes(hex: unknown): Buffer {
  const digits = String(hex).slice(2).replace(/^0+/, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

/** A DATA value of bytes. */
export function toData(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

/** A QUANTITY of a number. */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** keccak-256; noble's, so that these chains are an oracle apart from the code they test. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}
