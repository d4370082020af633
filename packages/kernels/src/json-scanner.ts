import { JSON_BASE64 } from './bytes/json.js';
import { PIECE_BYTES } from './layout.js';
import { openModule } from './open-module.js';

/**
 * Checks that bytes, which come in pieces, begin with one array or object of JSON (RFC 8259), and finds its end: as
 * JsonValidator does, several times as fast. Text that is not UTF-8 is not noticed.
 */
class JsonScanner {
  /** What the kernel knows of the value: see its STATE. */
  #state = BEGIN;
  #open: Uint8Array = NONE;
  ended = false;
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Scans a piece from offset `from`; the first one begins with a bracket there. Returns the offset behind the value if
   * it ends in this piece, the piece's length if it goes on, and -1 if it is not JSON.
   */
  scan(bytes: Buffer, from = 0): number {
    for (let at = from; at < bytes.length; at += PIECE_BYTES) {
      const end = this.#scanPart(bytes, at, Math.min(bytes.length, at + PIECE_BYTES));
      if (end === -1 || this.ended) return end;
    }
    return bytes.length;
  }

  #scanPart(bytes: Buffer, from: number, to: number): number {
    const { memory, state, stackAt, pieceAt, scan } = this.#kernel;
    const length = to - from;
    state.set(this.#state);
    memory.set(this.#open, stackAt + 1);
    memory.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), pieceAt);
    memory.fill(SPACE, pieceAt + length, pieceAt + length + PAD_BYTES);
    const end = scan(length);
    if (end === -1) return -1;
    const depth = state[0] as number;
    this.ended = depth === 0;
    if (!this.ended) {
      this.#state = state.slice();
      this.#open = memory.slice(stackAt + 1, stackAt + 1 + depth);
    }
    return from + end;
  }
}

const NONE = new Uint8Array(0);
/** Before its first bracket: the last row of kernel/json/steps.ts. */
const BEGIN = Int32Array.of(0, 0, 0, 0, 8, 0, 0);
const SPACE = 0x20;
const PAD_BYTES = 64;

/** A scanner; null where Node has no WebAssembly with SIMD, as on processors before 2008. */
export function createJsonScanner(): JsonScanner | null {
  kernel ??= openKernel();
  return kernel === 'none' ? null : new JsonScanner(kernel);
}

/** One for all scanners: what it knows of a value is with each of them. */
let kernel: Kernel | 'none' | undefined;

/** See kernel/json/json.ts. */
interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  STATE: { value: number };
  STACK: { value: number };
  PIECE: { value: number };
  scan(length: number): number;
}

interface Kernel {
  memory: Uint8Array;
  state: Int32Array;
  stackAt: number;
  pieceAt: number;
  scan: Exports['scan'];
}

function openKernel(): Kernel | 'none' {
  try {
    const { memory, STATE, STACK, PIECE, scan } = openModule<Exports>(JSON_BASE64);
    return {
      memory: new Uint8Array(memory.buffer),
      state: new Int32Array(memory.buffer, STATE.value, BEGIN.length),
      stackAt: STACK.value,
      pieceAt: PIECE.value,
      scan,
    };
  } catch {
    return 'none';
  }
}
