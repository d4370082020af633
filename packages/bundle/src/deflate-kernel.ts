import type { Kind } from '@packhouse/chain';
import { DIGEST_BYTES } from './item-digests.js';
import { KERNEL_BASE64 } from './kernel-bytes.js';

/** What the kernel makes of a text; all bytes are the caller's to keep. */
export interface Kernel {
  /** Takes a text of 16 MB at most; the others are about the last one. */
  take(text: Uint8Array): void;
  /** Its raw DEFLATE, not final and ending in a sync flush. */
  deflate(): Uint8Array<ArrayBuffer>;
  /** The digests of its items by a seed (see item-digests.ts); null if it is not of the form that the kernel knows. */
  items(kind: Kind, seed: number): Uint8Array<ArrayBuffer> | null;
}

/** What is used of WebAssembly, whose types come with those of browsers alone. */
interface Assembly {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Exports };
}

/** See kernel/deflate.ts. */
interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  reserve(length: number): number;
  deflate(): number;
  output(): number;
  items(kind: number, seed: number): number;
  itemsAt(): number;
}

/** As kernel/items.ts has them. */
const KINDS_OF_ITEMS: Partial<Record<Kind, number>> = { logs: 0, transactions: 1, traces: 2 };

/**
 * Opens a kernel of its own memory: 600 KB, and twice the longest text it was given. Throws whatever V8 does where it has
 * no WebAssembly (`--jitless`) or no SIMD (processors before 2008).
 */
export function openKernel(): Kernel {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  const module = new Module(Buffer.from(KERNEL_BASE64, 'base64'));
  const { memory, reserve, deflate, output, items, itemsAt } = new Instance(module, {}).exports;
  let bytes = new Uint8Array(memory.buffer);
  const slice = (at: number, length: number): Uint8Array<ArrayBuffer> => {
    // Memory that has grown is another buffer.
    if (bytes.buffer !== memory.buffer) bytes = new Uint8Array(memory.buffer);
    return bytes.slice(at, at + length);
  };
  return {
    take(text) {
      const at = reserve(text.length);
      if (bytes.buffer !== memory.buffer) bytes = new Uint8Array(memory.buffer);
      bytes.set(text, at);
    },
    deflate() {
      const length = deflate();
      return slice(output(), length);
    },
    items(kind, seed) {
      const number = KINDS_OF_ITEMS[kind];
      const count = number === undefined ? -1 : items(number, seed);
      return count < 0 ? null : slice(itemsAt(), count * DIGEST_BYTES);
    },
  };
}
