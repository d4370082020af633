import { isAscii } from 'node:buffer';

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** A table with 1 for each of these characters. */
export function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}

/** The text between the quotes of a JSON string. */
export function resolveEscapes(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/* Where things are in bytes that hold JSON, or begin with it. Nothing is checked: see JsonValidator. */

// Constants that are imported are not known to V8 when it compiles a loop.
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const MARKS = byteSet('"{}[],:');

/** Offset of the first byte from `from` on that is no space. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

/** Offset behind the string whose text begins at `start`, behind its quote; -1 if it does not end. */
export function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at - 1;
    while (before >= start && bytes[before] === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return -1;
}

/** Offset behind the value that begins at `from`; -1 if nothing behind it shows that it has ended. */
export function endOfValue(bytes: Uint8Array, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return endOfString(bytes, from + 1);
  const { length } = bytes;
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    let at = from;
    while (at < length && MARKS[bytes[at] as number] === 0 && !isSpace(bytes[at])) at += 1;
    return at === from || at === length ? -1 : at;
  }
  let depth = 0;
  for (let at = from; at < length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at + 1) - 1;
        if (at < 0) return -1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      default:
    }
  }
  return -1;
}

/** What a text may have. */
interface TextLimits {
  depth: number;
  /** Elements, lists, objects, members and their names. */
  parts: number;
  /** Elements of the array that the text is. */
  elements: number;
}

/** Finds the limit that a text is the first to exceed; null if there is none. Whether it is JSON is not checked. */
export function findExcess(bytes: Uint8Array, limits: TextLimits): keyof TextLimits | null {
  const { length } = bytes;
  const { depth: maxDepth, parts: maxParts, elements: maxElements } = limits;
  let [depth, parts, elements] = [0, 1, 1];
  let isArray = false;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at];
    switch (byte) {
      case QUOTE:
        at = endOfString(bytes, at + 1) - 1;
        if (at < 0) return null;
        break;
      case COLON:
        parts += 1;
        if (parts > maxParts) return 'parts';
        break;
      case COMMA:
        parts += 1;
        if (parts > maxParts) return 'parts';
        if (depth === 1) elements += 1;
        if (isArray && elements > maxElements) return 'elements';
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (depth === 0) isArray = byte === OPEN_BRACKET;
        depth += 1;
        parts += 1;
        if (parts > maxParts) return 'parts';
        if (depth > maxDepth) return 'depth';
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      default:
    }
  }
  return null;
}

/** A member of an object. Offsets of its name are within its quotes. */
interface Member {
  nameStart: number;
  nameEnd: number;
  valueStart: number;
}

/** Reads the name of the member at `at`. Null if there is no member, or not all of its name. */
export function readMember(bytes: Uint8Array, at: number): Member | null {
  if (bytes[at] !== QUOTE) return null;
  const end = endOfString(bytes, at + 1);
  if (end === -1) return null;
  const colon = skipSpace(bytes, end);
  if (bytes[colon] !== COLON) return null;
  return { nameStart: at + 1, nameEnd: end - 1, valueStart: skipSpace(bytes, colon + 1) };
}

/** Whether a member has this name, of ASCII, written without escapes. */
export function hasName(bytes: Uint8Array, { nameStart, nameEnd }: Member, name: string): boolean {
  if (nameEnd - nameStart !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) {
    if (bytes[nameStart + at] !== name.charCodeAt(at)) return false;
  }
  return true;
}

/** Returns the text between two offsets. */
type Slice = (start: number, end: number) => string;

/** Reads parts of UTF-8: slices of `text`, the bytes decoded, if every byte is a character, which is much faster. */
export function createSlicer(bytes: Buffer, text = isAscii(bytes) ? bytes.toString('latin1') : ''): Slice {
  return text.length === bytes.length
    ? (start, end) => text.slice(start, end)
    : (start, end) => bytes.toString('utf8', start, end);
}

/**
 * The members of the JSON object at `from` that have one of these names, of ASCII, as they were written, by name. The
 * last of a repeated name counts, as in JSON.parse. The bytes must be valid JSON.
 */
export function getMembers(
  bytes: Buffer,
  names: readonly string[],
  from = 0,
  slice = createSlicer(bytes),
): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(bytes, skipSpace(bytes, from) + 1);
  for (let member = readMember(bytes, at); member !== null; member = readMember(bytes, at)) {
    const { valueStart } = member;
    const end = endOfValue(bytes, valueStart);
    const name = findName(bytes, member, names);
    if (name !== undefined) members.set(name, slice(valueStart, end));
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return members;
}

/** Where the elements of a whole JSON array are. The bytes must be valid JSON. */
export function findElements(bytes: Buffer): { start: number; end: number }[] {
  const elements: { start: number; end: number }[] = [];
  let start = skipSpace(bytes, skipSpace(bytes, 0) + 1);
  while (bytes[start] !== CLOSE_BRACKET) {
    const end = endOfValue(bytes, start);
    if (end === -1) throw new SyntaxError(`The text ends in the middle of element ${elements.length}.`);
    elements.push({ start, end });
    start = skipSpace(bytes, end);
    if (bytes[start] === COMMA) start = skipSpace(bytes, start + 1);
  }
  return elements;
}

/** The elements of a whole JSON array, as they were written. The bytes must be valid JSON. */
export function splitArray(bytes: Buffer): string[] {
  const slice = createSlicer(bytes);
  return findElements(bytes).map(({ start, end }) => slice(start, end));
}

function findName(bytes: Buffer, member: Member, names: readonly string[]): string | undefined {
  for (const name of names) if (hasName(bytes, member, name)) return name;
  const { nameStart, nameEnd } = member;
  for (let at = nameStart; at < nameEnd; at += 1) {
    if (bytes[at] !== BACKSLASH) continue;
    const written = resolveEscapes(bytes.toString('utf8', nameStart, nameEnd));
    return names.find((name) => name === written);
  }
  return undefined;
}
