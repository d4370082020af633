/** What is used of WebAssembly, whose types come with those of browsers alone. */
interface Assembly {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: WithMemory };
}

interface WithMemory {
  memory: { readonly buffer: ArrayBuffer };
}

/**
 * Opens a kernel with a memory of its own. Throws whatever V8 does where it has no WebAssembly (`--jitless`) or no SIMD
 * (processors before 2008).
 */
export function openModule<Exports extends WithMemory>(base64: string): Exports & { bytes(): Buffer } {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  const exports = new Instance(new Module(Buffer.from(base64, 'base64')), {}).exports as Exports;
  let bytes = Buffer.from(exports.memory.buffer);
  return {
    ...exports,
    /** All of its memory, as it is now. */
    bytes() {
      // Memory that has grown is another buffer, and the old one is empty.
      if (bytes.buffer !== exports.memory.buffer) bytes = Buffer.from(exports.memory.buffer);
      return bytes;
    },
  };
}
