import { BRACKETS_BASE64 } from './bytes/brackets.js';
import { PIECE_BYTES } from './layout.js';
import { openModule } from './open-module.js';

/**
 * Finds the end of an array or object that comes in pieces, some five times as fast as JsonValidator: only its brackets and
 * strings are read. So whatever breaks off before its end, has a bracket that no other one fits, or a string that does
 * not end, is found; a control character within a string and a backslash outside of one are refused.
 *
 * It does not see what JsonValidator sees beside these: whether names, values, commas and colons are in their places,
 * whether words and numbers are such, and which characters are escaped.
 */
class BracketScanner {
  #inString = 0;
  #escaped = 0;
  #open: Uint8Array = NONE;
  ended = false;
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Scans a piece from offset `from`; the first one begins with a bracket there. Returns the offset behind the value if
   * it ends in this piece, the piece's length if it goes on, and -1 if no JSON has these bytes.
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
    memory.set(this.#open, stackAt + 1);
    memory.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), pieceAt);
    memory.fill(SPACE, pieceAt + length, pieceAt + length + PAD_BYTES);
    const end = scan(length, this.#open.length, this.#inString, this.#escaped);
    if (end === -1) return -1;
    const depth = state[0] as number;
    this.#inString = state[1] as number;
    this.#escaped = state[2] as number;
    this.ended = depth === 0;
    if (!this.ended) this.#open = memory.slice(stackAt + 1, stackAt + 1 + depth);
    return from + end;
  }
}

const NONE = new Uint8Array(0);
const SPACE = 0x20;
const PAD_BYTES = 64;

/** A scanner; null where Node has no WebAssembly with SIMD, as on processors before 2008. */
export function createBracketScanner(): BracketScanner | null {
  kernel ??= openKernel();
  return kernel === 'none' ? null : new BracketScanner(kernel);
}

/** One for all scanners: what it knows of a value is with each of them. */
let kernel: Kernel | 'none' | undefined;

/** See kernel/brackets/brackets.ts. */
interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  STATE: { value: number };
  STACK: { value: number };
  PIECE: { value: number };
  scan(length: number, depth: number, inString: number, escaped: number): number;
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
    const { memory, STATE, STACK, PIECE, scan } = openModule<Exports>(BRACKETS_BASE64);
    return {
      memory: new Uint8Array(memory.buffer),
      state: new Int32Array(memory.buffer, STATE.value, 3),
      stackAt: STACK.value,
      pieceAt: PIECE.value,
      scan,
    };
  } catch {
    return 'none';
  }
}
