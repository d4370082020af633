/*
 * What may come next:
 *
 *   VALUE       a value                        (after `[` and before a member's value; FIRST_ITEM: or `]`)
 *   KEY         a member's name                (after `,` in an object; FIRST_KEY, after `{`: or `}`)
 *   COLON       `:`
 *   AFTER       `,` or the closing bracket
 *   STRING      the rest of a string           (a name if `#isKey`)
 *   ESCAPE      the character behind `\`
 *   HEX         more digits of `\u`
 *   SCALAR      more of a number, `true`, `false` or `null`, of which `#scalar` is the beginning
 *   ENDED       nothing: the value is complete
 */
const [VALUE, FIRST_ITEM, KEY, FIRST_KEY, COLON, AFTER, STRING, ESCAPE, HEX, SCALAR, ENDED] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
];

const [SPACE, QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE] = [0x20, 0x22, 0x5c, 0x7b, 0x7d];
const [OPEN_BRACKET, CLOSE_BRACKET, COMMA, COLON_SIGN, LETTER_U] = [0x5b, 0x5d, 0x2c, 0x3a, 0x75];

/** Deeper than any trace: EVM calls nest 1,024 deep, two brackets each. */
const MAX_DEPTH = 10_000;
/** Longer than any number of a node. */
const MAX_SCALAR = 1_024;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const ESCAPES = byteSet('"\\/bfnrtu');
const HEX_DIGITS = byteSet('0123456789abcdefABCDEF');
/** Bytes that numbers and words consist of. */
const SCALARS = byteSet('0123456789+-.eEtrufalsn');

/**
 * Checks that bytes, which come in pieces, begin with one JSON value (RFC 8259), and finds its end. Every byte is read
 * once, nothing is decoded and no object is made. Text that is not UTF-8 is not noticed.
 */
export class ValueScanner {
  #state = VALUE;
  #depth = 0;
  /** By depth: 1 within an object, 0 within an array. */
  #objects = NONE;
  #isKey = false;
  #hexLeft = 0;
  #scalar = '';

  get ended(): boolean {
    return this.#state === ENDED;
  }

  /**
   * Scans a piece from offset `from`. Returns the offset behind the value if it ends in this piece, the piece's length if
   * it goes on, and -1 if it is not JSON.
   */
  scan(bytes: Buffer, from = 0): number {
    const { length } = bytes;
    const words = length < WORDS_FROM ? NO_WORDS : wordsOf(bytes);
    let state = this.#state;
    let at = from;
    while (at < length) {
      const byte = bytes[at] as number;
      if (state === STRING) {
        at = endOfPlain(bytes, at, words);
        if (at === length) break;
        const stop = bytes[at] as number;
        if (stop === QUOTE) state = this.#isKey ? COLON : AFTER;
        else if (stop === BACKSLASH) state = ESCAPE;
        else return -1;
        at += 1;
        if (state === AFTER && this.#depth === 0) return this.#end(at);
        // What mostly follows, without another round.
        const next = bytes[at];
        if (state === COLON && next === COLON_SIGN) {
          state = VALUE;
          at += 1;
          if (bytes[at] !== QUOTE) continue;
          this.#isKey = false;
        } else if (state === AFTER && next === COMMA && bytes[at + 1] === QUOTE) {
          this.#isKey = this.#objects[this.#depth] === 1;
          at += 1;
        } else continue;
        state = STRING;
        at += 1;
        continue;
      }
      if (state === SCALAR) {
        const start = at;
        while (at < length && SCALARS[bytes[at] as number] === 1) at += 1;
        this.#scalar += bytes.toString('latin1', start, at);
        if (this.#scalar.length > MAX_SCALAR) return -1;
        if (at === length) break;
        if (!isScalar(this.#scalar)) return -1;
        this.#scalar = '';
        if (this.#depth === 0) return this.#end(at);
        state = AFTER;
        continue;
      }
      if (state === ESCAPE) {
        if (ESCAPES[byte] !== 1) return -1;
        this.#hexLeft = 4;
        state = byte === LETTER_U ? HEX : STRING;
        at += 1;
        continue;
      }
      if (state === HEX) {
        if (HEX_DIGITS[byte] !== 1) return -1;
        this.#hexLeft -= 1;
        if (this.#hexLeft === 0) state = STRING;
        at += 1;
        continue;
      }
      if (byte <= SPACE) {
        if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return -1;
        at += 1;
        continue;
      }
      if (byte === QUOTE) {
        if (state === KEY || state === FIRST_KEY) this.#isKey = true;
        else if (state === VALUE || state === FIRST_ITEM) this.#isKey = false;
        else return -1;
        state = STRING;
        at += 1;
      } else if (byte === COLON_SIGN) {
        if (state !== COLON) return -1;
        state = VALUE;
        at += 1;
      } else if (byte === COMMA) {
        if (state !== AFTER) return -1;
        state = this.#objects[this.#depth] === 1 ? KEY : VALUE;
        at += 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if ((state !== VALUE && state !== FIRST_ITEM) || !this.#enter(byte === OPEN_BRACE)) return -1;
        state = byte === OPEN_BRACE ? FIRST_KEY : FIRST_ITEM;
        at += 1;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        const isObject = byte === CLOSE_BRACE;
        if (state !== AFTER && state !== (isObject ? FIRST_KEY : FIRST_ITEM)) return -1;
        if (this.#depth === 0 || (this.#objects[this.#depth] === 1) !== isObject) return -1;
        this.#depth -= 1;
        state = AFTER;
        at += 1;
        if (this.#depth === 0) return this.#end(at);
      } else if (state === VALUE || state === FIRST_ITEM) {
        if (SCALARS[byte] !== 1) return -1;
        state = SCALAR;
      } else return -1;
    }
    this.#state = state;
    return length;
  }

  #end(at: number): number {
    this.#state = ENDED;
    return at;
  }

  #enter(isObject: boolean): boolean {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) return false;
    if (this.#depth >= this.#objects.length) {
      const larger = new Uint8Array(Math.max(64, 2 * this.#depth));
      larger.set(this.#objects);
      this.#objects = larger;
    }
    this.#objects[this.#depth] = isObject ? 1 : 0;
    return true;
  }
}

const NONE = new Uint8Array(0);
/** Shorter pieces are read byte by byte alone. */
const WORDS_FROM = 1_024;
const NO_WORDS = new Int32Array(0);

/** The aligned words of the memory that a piece lies in, up to its end. */
function wordsOf({ buffer, byteOffset, length }: Buffer): Int32Array {
  return new Int32Array(buffer, 0, (byteOffset + length) >> 2);
}

/** Offset of the first byte that is not plain text of a string: its end, an escape, or a control character. */
function endOfPlain(bytes: Buffer, from: number, words: Int32Array): number {
  const { length } = bytes;
  let at = from;
  if (words.length > 0) {
    const { byteOffset } = bytes;
    const aligned = Math.min(length, at + ((4 - ((byteOffset + at) & 3)) & 3));
    for (; at < aligned; at++) if (isSpecial(bytes[at] as number)) return at;
    let index = (byteOffset + at) >> 2;
    const first = index;
    for (; index < words.length; index++) {
      // The highest bit of each byte: whether it is a quote, a backslash, or below a space.
      const word = words[index] as number;
      const quote = word ^ 0x22222222;
      const slash = word ^ 0x5c5c5c5c;
      const special =
        ((quote - 0x01010101) & ~quote) | ((slash - 0x01010101) & ~slash) | ((word - 0x20202020) & ~word);
      if ((special & 0x80808080) !== 0) break;
    }
    at += (index - first) * 4;
  }
  for (; at < length; at++) if (isSpecial(bytes[at] as number)) return at;
  return length;
}

function isSpecial(byte: number): boolean {
  return byte === QUOTE || byte === BACKSLASH || byte < SPACE;
}

function isScalar(text: string): boolean {
  return text === 'null' || text === 'true' || text === 'false' || NUMBER.test(text);
}

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}
