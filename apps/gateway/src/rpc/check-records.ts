import type { ResultCheck } from '@packhouse/node-rpc';

/** What every record of a result has to say, wherever it stands in it. A record without the field says nothing. */
export interface Expected {
  /** Whether the beginning of the result is right. */
  beginning?: ((bytes: Buffer) => boolean) | undefined;
  /** `blockNumber`: in this range. */
  blocks?: { from: number; to: number } | undefined;
  /** `blockNumber`: the same in all. */
  oneBlock?: boolean | undefined;
  /** A field with this hash, in lower case. */
  hash?: { field: 'blockHash' | 'transactionHash'; value: string } | undefined;
  /** The records are logs, or have them: none has the block and index of another one. */
  logs?: boolean | undefined;
}

const ABOUT_ELSE = 'an answer about something else';
const LOG_TWICE = 'two logs with the same index in one block';

/** A name with its quotation marks, and the capital in it: no value of hexadecimal digits has one, so few others are met. */
function toName(text: string) {
  const bytes = Buffer.from(`"${text}"`);
  const at = bytes.findIndex((byte) => byte >= 0x41 && byte <= 0x5a);
  return { bytes, at, capital: bytes[at] as number };
}
type Name = ReturnType<typeof toName>;

const BLOCK_NUMBER = toName('blockNumber');
const LOG_INDEX = toName('logIndex');
const HASHES = { blockHash: toName('blockHash'), transactionHash: toName('transactionHash') };
/** zkSync's messages in a receipt have a `logIndex` of their own. */
const OTHER_LOGS = toName('l2ToL1Logs');

/** A name before its capital, and from there on a name with its value, are shorter. */
const BEFORE = 16;
const BEHIND = 128;
/** Indexes of a block are below it, so that a place is one number. */
const MAX_INDEX = 2 ** 20;

/**
 * Checks records byte for byte as they come: only the places of a few capitals are looked at, which costs less
 * than the check that the result is JSON.
 */
export class RecordCheck implements ResultCheck {
  readonly #expected: Expected;
  /** The last bytes: BEFORE that were scanned, and those whose value may be cut off. */
  #tail: Buffer = Buffer.alloc(BEFORE, ' ');
  #block: number | undefined;
  /** Of logs: block and index, each in the order of the result. */
  #blocks: number[] = [];
  #indexes: number[] = [];
  /** Of logs: their places, nearly always in order. */
  readonly #places: number[] = [];
  #isSorted = true;
  #begun = false;
  #looksAtLogs: boolean;
  readonly #looks: boolean;

  constructor(expected: Expected) {
    this.#expected = expected;
    const { blocks, hash, logs, oneBlock } = expected;
    this.#looksAtLogs = logs === true;
    this.#looks = blocks !== undefined || hash !== undefined || logs === true || oneBlock === true;
  }

  push(bytes: Buffer): string | null {
    if (!this.#begun && this.#expected.beginning?.(bytes) === false) return ABOUT_ELSE;
    this.#begun = true;
    if (!this.#looks) return null;
    const isShort = bytes.length < BEFORE + 2 * BEHIND;
    const begin = Buffer.concat([this.#tail, isShort ? bytes : bytes.subarray(0, BEFORE + BEHIND)]);
    const scanned = begin.length - BEHIND;
    if (isShort) {
      if (scanned <= BEFORE) {
        this.#tail = begin;
        return null;
      }
      this.#tail = begin.subarray(scanned - BEFORE);
      return this.#scan(begin, BEFORE, scanned);
    }
    const end = bytes.length - BEHIND;
    // A copy, so that a stream that waits for its reader does not hold the piece that was sent.
    this.#tail = Buffer.from(bytes.subarray(end - BEFORE));
    return this.#scan(begin, BEFORE, scanned) ?? this.#scan(bytes, BEFORE, end);
  }

  end(): string | null {
    const wrong = this.#scan(this.#tail, BEFORE, this.#tail.length);
    if (wrong !== null || this.#isSorted || !this.#looksAtLogs) return wrong;
    const places = Float64Array.from(this.#places).sort();
    return places.some((place, at) => place === places[at - 1]) ? LOG_TWICE : null;
  }

  /** Looks at the names whose capital is there. */
  #scan(bytes: Buffer, from: number, to: number): string | null {
    const { blocks, hash, logs, oneBlock } = this.#expected;
    if (this.#looksAtLogs && oneBlock && find(bytes, OTHER_LOGS, from, to) !== -1) this.#looksAtLogs = false;
    if (blocks !== undefined || oneBlock || logs) {
      for (let at = find(bytes, BLOCK_NUMBER, from, to); at !== -1; at = find(bytes, BLOCK_NUMBER, at, to)) {
        const block = readNumber(bytes, at);
        if (!this.#isExpected(block)) return ABOUT_ELSE;
        if (this.#looksAtLogs && !oneBlock) this.#blocks.push(block);
      }
    }
    if (hash !== undefined) {
      const name = HASHES[hash.field];
      for (let at = find(bytes, name, from, to); at !== -1; at = find(bytes, name, at, to)) {
        if (!saysHash(bytes, at, hash.value)) return ABOUT_ELSE;
      }
    }
    if (!this.#looksAtLogs) return null;
    for (let at = find(bytes, LOG_INDEX, from, to); at !== -1; at = find(bytes, LOG_INDEX, at, to)) {
      this.#indexes.push(readNumber(bytes, at));
    }
    return this.#lookAtPlaces() ? null : LOG_TWICE;
  }

  #isExpected(block: number): boolean {
    const { blocks, oneBlock } = this.#expected;
    if (block === -1) return true;
    if (blocks !== undefined && (block < blocks.from || block > blocks.to)) return false;
    this.#block ??= block;
    return !oneBlock || block === this.#block;
  }

  /** Whether no two logs that are known by now follow each other with one place. */
  #lookAtPlaces(): boolean {
    const known = this.#expected.oneBlock
      ? this.#indexes.length
      : Math.min(this.#blocks.length, this.#indexes.length);
    for (let at = 0; at < known; at++) {
      const [block, index] = [this.#blocks[at] ?? 0, this.#indexes[at] as number];
      // A pending log has neither.
      if (block === -1 || index === -1 || index >= MAX_INDEX) continue;
      const place = block * MAX_INDEX + index;
      const before = this.#places.at(-1) ?? -1;
      if (place === before) return false;
      if (place < before) this.#isSorted = false;
      this.#places.push(place);
    }
    if (known > 0) {
      this.#blocks = this.#blocks.slice(known);
      this.#indexes = this.#indexes.slice(known);
    }
    return true;
  }
}

/** Where the next name ends whose capital stands from `from` to before `to`; -1: nowhere. */
function find(bytes: Buffer, { at, bytes: name, capital }: Name, from: number, to: number): number {
  for (
    let next = bytes.indexOf(capital, from);
    next !== -1 && next < to;
    next = bytes.indexOf(capital, next + 1)
  ) {
    const start = next - at;
    if (isAt(bytes, name, start) && bytes[start - 1] !== BACKSLASH) return start + name.length;
  }
  return -1;
}

function isAt(bytes: Buffer, name: Buffer, start: number): boolean {
  for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name[at]) return false;
  return true;
}

const [BACKSLASH, COLON, QUOTE, SPACE, ZERO, LETTER_X] = [0x5c, 0x3a, 0x22, 0x20, 0x30, 0x78];

/** Where the value of a member begins, behind its name. */
function skipColon(bytes: Buffer, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte !== undefined && (byte <= SPACE || byte === COLON); byte = bytes[at])
    at += 1;
  return at;
}

/** A QUANTITY or a plain number (trace_block); -1 if it is neither, or larger than exact numbers are. */
function readNumber(bytes: Buffer, from: number): number {
  const start = skipColon(bytes, from);
  const isHex = bytes[start] === QUOTE;
  if (isHex && (bytes[start + 1] !== ZERO || bytes[start + 2] !== LETTER_X)) return -1;
  const base = isHex ? 16 : 10;
  let value = 0;
  let at = isHex ? start + 3 : start;
  const first = at;
  for (let digit = digitOf(bytes[at]); digit < base; digit = digitOf(bytes[at])) {
    value = value * base + digit;
    at += 1;
  }
  return at > first && Number.isSafeInteger(value) ? value : -1;
}

function digitOf(byte: number | undefined): number {
  if (byte === undefined || byte < ZERO) return 16;
  if (byte < 0x3a) return byte - ZERO;
  const letter = byte | 0x20;
  return letter > 0x60 && letter < 0x67 ? letter - 0x57 : 16;
}

const HASH_LENGTH = 66;

/** Whether a value is the hash, or none. */
function saysHash(bytes: Buffer, from: number, hash: string): boolean {
  const start = skipColon(bytes, from);
  if (bytes[start] !== QUOTE || bytes[start + HASH_LENGTH + 1] !== QUOTE) return true;
  const found = bytes.toString('latin1', start + 1, start + 1 + HASH_LENGTH);
  return found === hash || found.toLowerCase() === hash;
}
