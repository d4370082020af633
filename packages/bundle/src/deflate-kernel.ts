import { KERNEL_BASE64 } from './kernel-bytes.js';

/** Deflates a text into raw DEFLATE that is not final and ends in a sync flush; the bytes are the caller's to keep. */
type Kernel = (text: Uint8Array) => Uint8Array<ArrayBuffer>;

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
}

/**
 * Opens a kernel of its own memory: 300 KB, and twice the longest text it was given. Throws whatever V8 does where it has
 * no WebAssembly (`--jitless`) or no SIMD (processors before 2008).
 */
export function openKernel(): Kernel {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  const module = new Module(Buffer.from(KERNEL_BASE64, 'base64'));
  const { memory, reserve, deflate, output } = new Instance(module, {}).exports;
  let bytes = new Uint8Array(memory.buffer);
  return (text) => {
    const at = reserve(text.length);
    // Memory that has grown is another buffer.
    if (bytes.buffer !== memory.buffer) bytes = new Uint8Array(memory.buffer);
    bytes.set(text, at);
    const length = deflate();
    return bytes.slice(output(), output() + length);
  };
}
