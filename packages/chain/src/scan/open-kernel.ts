import { KERNEL_BASE64 } from './kernel-bytes.js';

/** What is used of WebAssembly, whose types come with those of browsers alone. */
interface Assembly {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Exports };
}

/** See kernel/scan.ts; addresses are numbers, 0 is "declined". */
interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  reserve(bytes: number): number;
  region(bytes: number): number;
  outline(from: number, bytes: number, into: number, room: number): number;
  block(): number;
  result(): number;
  factsAt(): number;
  transactions(at: number, length: number): number;
  receipts(at: number, length: number): number;
  traces(at: number, length: number): number;
}

/** The compiled scanner with a memory of its own. */
export interface Kernel extends Exports {
  /** All of its memory, as it is now: after `reserve` it may be another array. */
  bytes(): Buffer;
}

/**
 * Opens a scanner. Throws whatever V8 does where it has no WebAssembly (`--jitless`) or no SIMD (processors before 2008).
 */
export function openKernel(): Kernel {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  const { exports } = new Instance(new Module(Buffer.from(KERNEL_BASE64, 'base64')), {});
  let bytes = Buffer.from(exports.memory.buffer);
  return {
    ...exports,
    bytes() {
      // Memory that has grown is another buffer, and the old one is empty.
      if (bytes.buffer !== exports.memory.buffer) bytes = Buffer.from(exports.memory.buffer);
      return bytes;
    },
  };
}
