/** Buffers have a multiple of this size, so that one fits the next text. */
const STEP_BYTES = 262_144;
/** What is kept at most. */
const MAX_BYTES = 16_777_216;

/**
 * Buffers that are used again. Memory outside of its heap makes V8 collect the heap each time some of it
 * was added, however little is in the heap.
 */
export class SpareBuffers {
  /** The longest used first. */
  #spare: ArrayBuffer[] = [];
  #bytes = 0;

  /** So many bytes, which hold anything. */
  take(bytes: number): Buffer<ArrayBuffer> {
    return Buffer.from(this.#find(bytes), 0, bytes);
  }

  copy(text: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(this.#find(text.length), 0, text.length);
    copy.set(text);
    return copy;
  }

  /** Takes back a buffer that nobody else has. */
  giveBack(buffer: ArrayBuffer): void {
    this.#spare.push(buffer);
    this.#bytes += buffer.byteLength;
    while (this.#bytes > MAX_BYTES) this.#bytes -= this.#spare.shift()?.byteLength ?? 0;
  }

  /** The smallest that is large enough, and not twice as large. */
  #find(bytes: number): ArrayBuffer {
    const needed = Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
    let best = -1;
    let least = 2 * needed + 1;
    for (const [at, { byteLength }] of this.#spare.entries()) {
      if (byteLength < needed || byteLength >= least) continue;
      best = at;
      least = byteLength;
    }
    if (best === -1) return new ArrayBuffer(needed);
    this.#bytes -= least;
    return this.#spare.splice(best, 1)[0] as ArrayBuffer;
  }
}
