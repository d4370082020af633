import * as L from './layout.js';
import { openScanKernel, type ScanKernel } from './open-scan.js';

/** A value of an outlined text. Offsets are in bytes of the whole text. */
export interface Outlined {
  readonly start: number;
  readonly end: number;
  /** How many objects this array holds; null if it is no array, holds anything else or was looked into. */
  readonly objects: number | null;
  /** The first of these objects; null if there is none. */
  readonly first: { start: number; end: number } | null;
  /** The elements or members in their order; none if it was not looked into. */
  children(): Outlined[];
  /** The member of this name; undefined if there is none, or more than one. */
  member(name: string): Outlined | undefined;
}

/** A record, in words. */
const [WORDS, START, END, KEY, KEY_LENGTH, NEXT, OBJECTS, FIRST, FIRST_END] = [
  L.OUTLINED_BYTES / 4,
  L.OUTLINED_START / 4,
  L.OUTLINED_END / 4,
  L.OUTLINED_KEY / 4,
  L.OUTLINED_KEY_LENGTH / 4,
  L.OUTLINED_NEXT / 4,
  L.OUTLINED_OBJECTS / 4,
  L.OUTLINED_FIRST / 4,
  L.OUTLINED_FIRST_END / 4,
];
const NO_OBJECTS = 0xffffffff;
/** A batch of a hundred blocks has some 3,000. */
const MAX_RECORDS = 16_384;
/** A kernel with more memory than that is not kept. */
const KEPT_BYTES = 16_777_216;

/** null: there is none on this machine. */
let kernel: ScanKernel | null | undefined;

/**
 * Finds the envelopes of a JSON-RPC answer, or of an array of such, the members of each and those of its `result`. What is
 * further within is skipped and may be no JSON. Returns null for what it does not know: text that is cut off, escapes in
 * names, nesting beyond 10,000, more than 64 members of an object; and where there is no WebAssembly with SIMD.
 */
export function outlineAnswer(text: Buffer): Outlined | null {
  if (kernel === undefined) kernel = tryOpenKernel();
  if (kernel === null) return null;
  const room = MAX_RECORDS * WORDS * 4;
  if (kernel.reserve(text.length + room + 4 * L.SLACK_BYTES) === 0) return null;
  const at = kernel.region(text.length);
  const into = kernel.region(room);
  if (at === 0 || into === 0) return null;
  const memory = kernel.bytes();
  memory.set(text, at);
  memory.fill(0, at + text.length, at + text.length + L.SLACK_BYTES);
  const count = kernel.outline(at, text.length, into, room);
  const records = new Uint32Array(memory.buffer, into, count * WORDS).slice();
  if (memory.length > KEPT_BYTES) kernel = undefined;
  return count === 0 ? null : new Value(text, records, 0);
}

function tryOpenKernel(): ScanKernel | null {
  try {
    return openScanKernel();
  } catch {
    return null;
  }
}

class Value implements Outlined {
  readonly #text: Buffer;
  readonly #records: Uint32Array;
  readonly #at: number;

  constructor(text: Buffer, records: Uint32Array, index: number) {
    this.#text = text;
    this.#records = records;
    this.#at = index * WORDS;
  }

  #word(word: number): number {
    return this.#records[this.#at + word] as number;
  }
  get start(): number {
    return this.#word(START);
  }
  get end(): number {
    return this.#word(END);
  }
  get objects(): number | null {
    const count = this.#word(OBJECTS);
    return count === NO_OBJECTS ? null : count;
  }
  get first(): { start: number; end: number } | null {
    const end = this.#word(FIRST_END);
    return end === 0 ? null : { start: this.#word(FIRST), end };
  }

  children(): Outlined[] {
    const found: Value[] = [];
    for (const index of this.#indexes()) found.push(new Value(this.#text, this.#records, index));
    return found;
  }

  member(name: string): Outlined | undefined {
    let found: number | undefined;
    for (const index of this.#indexes()) {
      const at = index * WORDS;
      if (this.#records[at + KEY_LENGTH] !== name.length) continue;
      const key = this.#records[at + KEY] as number;
      if (this.#text.toString('latin1', key, key + name.length) !== name) continue;
      if (found !== undefined) return undefined;
      found = index;
    }
    return found === undefined ? undefined : new Value(this.#text, this.#records, found);
  }

  *#indexes(): Generator<number> {
    const end = this.#word(NEXT);
    let index = this.#at / WORDS + 1;
    while (index < end) {
      yield index;
      index = this.#records[index * WORDS + NEXT] as number;
    }
  }
}
