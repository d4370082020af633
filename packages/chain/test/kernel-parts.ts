import { openScanKernel, type ScanKernel } from '@packhouse/kernels';

/** What tests call of the scanner beside what the prover does; see packages/kernels/kernel/scan. Booleans are 0 and 1. */
export interface Parts extends ScanKernel {
  keccak(at: number, length: number, to: number): void;
  unhex(at: number, digits: number, to: number): number;
  openRlp(at: number, end: number, items: number, itemsEnd: number): void;
  beginItem(): number;
  endItem(payload: number, type: number): number;
  putQuantity(at: number, digits: number): void;
  putData(at: number, digits: number): void;
  putEmpty(): void;
  beginList(): number;
  endList(payload: number): void;
  itemCount(): number;
  itemStart(item: number): number;
  itemEnd(item: number): number;
  rlpListLength(length: number): number;
  trieRoot(to: number): number;
  openBloom(): void;
  addToBloom(at: number, digits: number): void;
  orBloom(into: number): void;
  /** Its address. */
  BLOOM: { value: number };
}

/** A kernel with regions of these sizes. */
export function withRegions(...sizes: number[]): { parts: Parts; regions: number[] } {
  const parts = openScanKernel() as Parts;
  const total = sizes.reduce((sum, size) => sum + size + 80, 0);
  if (parts.reserve(total) === 0) throw new Error(`${total} bytes were not reserved`);
  return { parts, regions: sizes.map((size) => parts.region(size)) };
}

/** Writes hex digits, without 0x, to an address; returns how many. */
export function putDigits(parts: Parts, at: number, digits: string): number {
  return parts.bytes().write(digits, at, 'latin1');
}
