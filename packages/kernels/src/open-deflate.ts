import { DEFLATE_BASE64 } from './bytes/deflate.js';
import * as L from './layout.js';
import { openModule } from './open-module.js';

/** What the kernel makes of a text; all bytes are the caller's to keep. */
export interface DeflateKernel {
  /** Takes a text of 16 MB at most; the others are about the last one. */
  take(text: Uint8Array): void;
  /** Its raw DEFLATE, not final and ending in a sync flush. */
  deflate(): Uint8Array<ArrayBuffer>;
  /** The first 10 bytes of SHA-256 of each of its items by a seed; null if the kernel does not know its form. */
  items(kind: string, seed: number): Uint8Array<ArrayBuffer> | null;
}

/** See kernel/deflate/deflate.ts. */
interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  reserve(length: number): number;
  deflate(): number;
  output(): number;
  items(kind: number, seed: number): number;
  itemsAt(): number;
}

const KINDS: Readonly<Record<string, number>> = {
  logs: L.ITEMS_OF_LOGS,
  transactions: L.ITEMS_OF_TRANSACTIONS,
  traces: L.ITEMS_OF_TRACES,
};

/** Opens a kernel: 600 KB, and twice the longest text it was given. Throws as `openModule` does. */
export function openDeflateKernel(): DeflateKernel {
  const { bytes, reserve, deflate, output, items, itemsAt } = openModule<Exports>(DEFLATE_BASE64);
  // A copy, with a buffer of its own.
  const slice = (at: number, length: number): Uint8Array<ArrayBuffer> =>
    new Uint8Array((bytes().buffer as ArrayBuffer).slice(at, at + length));
  return {
    take(text) {
      const at = reserve(text.length);
      bytes().set(text, at);
    },
    deflate() {
      const length = deflate();
      return slice(output(), length);
    },
    items(kind, seed) {
      const number = KINDS[kind];
      const count = number === undefined ? -1 : items(number, seed);
      return count < 0 ? null : slice(itemsAt(), count * L.DIGEST_BYTES);
    },
  };
}
