import { byteSet, isSpace, resolveEscapes } from './outline.js';

/*
 * What may come next:
 *
 *   VALUE       a value                        (after `[` and before a member's value; FIRST_ITEM: or `]`)
 *   KEY         a member's name                (after `,` in an object; FIRST_KEY, after `{`: or `}`)
 *   BEFORE      `:`
 *   AFTER       `,` or the closing bracket
 *   STRING      the rest of a string           (a name if `#isKey`)
 *   ESCAPE      the character behind `\`
 *   HEX         more digits of `\u`
 *   WORD        more of `true`, `false` or `null`
 *   NUMBER      more of a number
 *   ENDED       nothing: the value is complete
 *   BROKEN      nothing: it is not JSON
 */
const [VALUE, FIRST_ITEM, KEY, FIRST_KEY, BEFORE, AFTER, STRING, ESCAPE, HEX, WORD, NUMBER, ENDED, BROKEN] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
];

/** Where in a number: each state allows other bytes next. */
const [MINUS, ZERO, INTEGER, POINT, FRACTION, EXPONENT, SIGN, POWER] = [0, 1, 2, 3, 4, 5, 6, 7];

// Constants that are imported are not known to V8 when it compiles a loop.
const [SPACE, QUOTE, BACKSLASH, COMMA, COLON, LETTER_U] = [0x20, 0x22, 0x5c, 0x2c, 0x3a, 0x75];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const WORDS: Readonly<Record<number, string>> = { 116: 'true', 102: 'false', 110: 'null' };
const ESCAPES = byteSet('"\\/bfnrtu');
const HEX_DIGITS = byteSet('0123456789abcdefABCDEF');
/** Bytes that numbers and words consist of. */
const SCALARS = byteSet('0123456789+-.eEtrufalsn');

/** Deeper than any trace: EVM calls nest 1,024 deep, two brackets each. */
const MAX_DEPTH = 10_000;
/** Longer than any number of a node. */
const MAX_NUMBER = 1_024;
/** Longer strings are no number and no hash. */
const MAX_KEPT = 100;

/** The strings of these names that an element has of its own; the last of a name counts. */
export type ElementFacts = Readonly<Record<string, string | undefined>>;

interface ValidatorOptions {
  /** Deeper nesting is refused. Default: 10,000. */
  maxDepth?: number;
  /** Longer numbers are refused. Default: 1,024 characters. */
  maxNumber?: number;
  /** The value must be an array: called with each element that ends. */
  elements?: {
    /** Members of elements whose text is passed on. */
    names: readonly string[];
    /** May return false, which is as if the text were not JSON. */
    onElement: (index: number, facts: ElementFacts) => boolean;
  };
}

/**
 * Checks that bytes, which come in pieces, begin with one JSON value (RFC 8259), and finds its end. Every byte is read
 * once, nothing is decoded and no object is made. Text that is not UTF-8 is not noticed.
 */
export class JsonValidator {
  readonly #maxDepth: number;
  readonly #maxNumber: number;
  readonly #elements: ValidatorOptions['elements'];
  /** Values up to this depth have strings that are elements or facts. */
  readonly #shallow: number;
  #state = VALUE;
  #depth = 0;
  /** By depth: 1 within an object, 0 within an array. */
  #objects = NONE;
  #isKey = false;
  #hexLeft = 0;
  #word = '';
  /** Bytes of the word or number so far. */
  #scalarBytes = 0;
  #numberState = MINUS;
  /** Whether the string that is read is kept, and what was read of it in earlier pieces. */
  #keeping = false;
  #kept = '';
  #name: string | null = null;
  #facts: Record<string, string | undefined> = {};
  /** Whole elements so far. */
  elements = 0;
  /** Bytes of space outside of elements. */
  spaces = 0;

  constructor({ maxDepth = MAX_DEPTH, maxNumber = MAX_NUMBER, elements }: ValidatorOptions = {}) {
    this.#maxDepth = maxDepth;
    this.#maxNumber = maxNumber;
    this.#elements = elements;
    this.#shallow = elements === undefined ? 0 : elements.names.length === 0 ? 1 : 2;
  }

  get ended(): boolean {
    return this.#state === ENDED;
  }

  /**
   * Scans a piece from offset `from`. Returns the offset behind the value if it ends in this piece, the piece's length if
   * it goes on, and -1 if it is not JSON: for good.
   */
  scan(bytes: Uint8Array, from = 0): number {
    const end = this.#scan(bytes, from);
    if (end === -1) this.#state = BROKEN;
    return end;
  }

  #scan(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    let state = this.#state;
    let at = from;
    while (at < length) {
      if (state === STRING) {
        const start = at;
        at = endOfPlain(bytes, view, at);
        if (this.#keeping) this.#keep(bytes, start, at);
        if (at === length) break;
        const stop = bytes[at] as number;
        at += 1;
        if (stop !== QUOTE) {
          if (stop !== BACKSLASH) return -1;
          state = ESCAPE;
          continue;
        }
        if (this.#depth <= this.#shallow) {
          state = this.#endString();
          if (state === ENDED) return this.#end(at);
          if (state === BROKEN) return -1;
          continue;
        }
        // What mostly follows, without another round.
        const next = bytes[at];
        if (this.#isKey) {
          state = BEFORE;
          if (next !== COLON) continue;
          state = VALUE;
          at += 1;
          if (bytes[at] !== QUOTE) continue;
          this.#isKey = false;
        } else {
          state = AFTER;
          if (next !== COMMA || bytes[at + 1] !== QUOTE) continue;
          this.#isKey = this.#objects[this.#depth] === 1;
          at += 1;
        }
        state = STRING;
        at += 1;
        continue;
      }
      const byte = bytes[at] as number;
      if (state === NUMBER || state === WORD) {
        at = state === NUMBER ? this.#scanNumber(bytes, at) : this.#scanWord(bytes, at);
        if (at === -1) return -1;
        if (at === length) break;
        state = this.#endValue();
        if (state === ENDED) return this.#end(at);
        continue;
      }
      at += 1;
      if (state === ESCAPE) {
        if (ESCAPES[byte] !== 1) return -1;
        if (this.#keeping) this.#kept += `\\${String.fromCharCode(byte)}`;
        this.#hexLeft = 4;
        state = byte === LETTER_U ? HEX : STRING;
      } else if (state === HEX) {
        if (HEX_DIGITS[byte] !== 1) return -1;
        if (this.#keeping) this.#kept += String.fromCharCode(byte);
        this.#hexLeft -= 1;
        if (this.#hexLeft === 0) state = STRING;
      } else if (byte <= SPACE) {
        if (!isSpace(byte)) return -1;
        if (this.#depth <= 1) this.spaces += 1;
      } else if (byte === COLON) {
        if (state !== BEFORE) return -1;
        state = VALUE;
      } else if (byte === COMMA) {
        if (state !== AFTER) return -1;
        if (this.#depth === 2) this.#name = null;
        state = this.#objects[this.#depth] === 1 ? KEY : VALUE;
      } else {
        state = this.#step(state, byte);
        if (state === ENDED) return this.#end(at);
        if (state === BROKEN) return -1;
        // Its first byte is part of it.
        if (state === NUMBER || state === WORD) at -= 1;
      }
    }
    this.#state = state;
    return length;
  }

  #end(at: number): number {
    this.#state = ENDED;
    return at;
  }

  /** The state behind a bracket, a quote, or the first byte of a number or word. */
  #step(state: number, byte: number): number {
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      const isObject = byte === CLOSE_BRACE;
      if (state !== AFTER && state !== (isObject ? FIRST_KEY : FIRST_ITEM)) return BROKEN;
      if (this.#depth === 0 || (this.#objects[this.#depth] === 1) !== isObject) return BROKEN;
      this.#depth -= 1;
      return this.#endValue();
    }
    if (byte === QUOTE && (state === KEY || state === FIRST_KEY)) return this.#beginString(true);
    if (state !== VALUE && state !== FIRST_ITEM) return BROKEN;
    if (this.#elements !== undefined && this.#depth === 0 && byte !== OPEN_BRACKET) return BROKEN;
    if (byte === QUOTE) return this.#beginString(false);
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return this.#enter(byte === OPEN_BRACE);
    this.#scalarBytes = 0;
    this.#word = WORDS[byte] ?? '';
    if (this.#word !== '') return WORD;
    this.#numberState = byte === 0x2d ? MINUS : byte === 0x30 ? ZERO : INTEGER;
    return byte === 0x2d || isDigit(byte) ? NUMBER : BROKEN;
  }

  #enter(isObject: boolean): number {
    if (this.#depth === this.#maxDepth) return BROKEN;
    this.#depth += 1;
    if (this.#depth >= this.#objects.length) {
      const larger = new Uint8Array(Math.max(64, 2 * this.#depth));
      larger.set(this.#objects);
      this.#objects = larger;
    }
    this.#objects[this.#depth] = isObject ? 1 : 0;
    return isObject ? FIRST_KEY : FIRST_ITEM;
  }

  /** The state behind a value. */
  #endValue(): number {
    if (this.#depth === 0) return ENDED;
    if (this.#depth > 1 || this.#elements === undefined) return AFTER;
    const { names, onElement } = this.#elements;
    this.elements += 1;
    if (!onElement(this.elements - 1, this.#facts)) return BROKEN;
    if (names.length > 0) this.#facts = {};
    return AFTER;
  }

  #beginString(isKey: boolean): number {
    this.#isKey = isKey;
    const isFact = this.#shallow === 2 && this.#depth === 2 && this.#objects[2] === 1;
    this.#keeping = isFact && (isKey || this.#name !== null);
    this.#kept = '';
    return STRING;
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    if (this.#kept.length > MAX_KEPT) return;
    const piece = bytes.subarray(start, Math.min(end, start + MAX_KEPT + 1));
    this.#kept += String.fromCharCode.apply(null, piece as unknown as number[]);
  }

  /** The state behind a string that may be an element or a fact. */
  #endString(): number {
    const text = !this.#keeping
      ? null
      : this.#kept.length > MAX_KEPT
        ? undefined
        : resolveEscapes(this.#kept);
    this.#keeping = false;
    if (!this.#isKey) {
      if (text !== null) this.#facts[this.#name as string] = text;
      return this.#endValue();
    }
    if (text !== null) {
      this.#name = text !== undefined && this.#elements?.names.includes(text) === true ? text : null;
      if (this.#name !== null) this.#facts[this.#name] = undefined;
    }
    return BEFORE;
  }

  /** Offset behind the number; the length if it may go on, -1 if it is none. */
  #scanNumber(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    let at = from;
    let state = this.#numberState;
    // The first byte is in the state already.
    if (this.#scalarBytes === 0) at += 1;
    for (; at < length; at += 1) {
      const byte = bytes[at] as number;
      const next = nextOfNumber(state, byte);
      if (next === NO_NUMBER) return -1;
      if (next === ENDS) {
        if (SCALARS[byte] === 1) return -1;
        break;
      }
      state = next;
    }
    this.#numberState = state;
    this.#scalarBytes += at - from;
    return this.#scalarBytes > this.#maxNumber ? -1 : at;
  }

  /** Offset behind the word; the length if it may go on, -1 if it is none. */
  #scanWord(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    const word = this.#word;
    let at = from;
    for (; at < length && this.#scalarBytes < word.length; at += 1) {
      if (bytes[at] !== word.charCodeAt(this.#scalarBytes)) return -1;
      this.#scalarBytes += 1;
    }
    return at < length && SCALARS[bytes[at] as number] === 1 ? -1 : at;
  }
}

const NONE = new Uint8Array(0);

/** Offset of the first byte that is not plain text of a string: its end, an escape, or a control character. */
function endOfPlain(bytes: Uint8Array, view: DataView, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at + 4 <= length && !hasSpecial(view.getInt32(at, true))) at += 4;
  for (; at < length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) return at;
  }
  return length;
}

/** Whether one of four bytes is a quote, a backslash or below 0x20. */
function hasSpecial(word: number): boolean {
  const quote = word ^ 0x22222222;
  const slash = word ^ 0x5c5c5c5c;
  const hit =
    ((quote - 0x01010101) & ~quote) | ((slash - 0x01010101) & ~slash) | ((word - 0x20202020) & ~word);
  return (hit & 0x80808080) !== 0;
}

/** The number ended before this byte, or may not end there. */
const [ENDS, NO_NUMBER] = [-1, -2];

/** The state behind a byte of a number, or one of the two above. */
function nextOfNumber(state: number, byte: number): number {
  if (isDigit(byte)) {
    if (state === MINUS) return byte === 0x30 ? ZERO : INTEGER;
    if (state === ZERO) return NO_NUMBER;
    if (state === POINT) return FRACTION;
    return state === EXPONENT || state === SIGN ? POWER : state;
  }
  if (byte === 0x2e && (state === ZERO || state === INTEGER)) return POINT;
  const isWhole = state === ZERO || state === INTEGER || state === FRACTION;
  if ((byte === 0x65 || byte === 0x45) && isWhole) return EXPONENT;
  if ((byte === 0x2b || byte === 0x2d) && state === EXPONENT) return SIGN;
  return isWhole || state === POWER ? ENDS : NO_NUMBER;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
