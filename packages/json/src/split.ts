import { endOfString, isSpace } from './outline.js';

/*
 * Finds the ends of a JSON array's elements without parsing them: it follows strings, escapes and the depth of
 * brackets only. The inside of an element is not checked.
 */

const [BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET] = [0x5c, 0x5b, 0x5d];
const OTHER = 0;
const STRING = 1;
const OPEN = 2;
const CLOSE = 3;
const COMMA = 4;

/** The meaning of a byte outside of strings. */
const MEANING = new Uint8Array(256);
for (const [text, meaning] of [
  ['"', STRING],
  ['[{', OPEN],
  [']}', CLOSE],
  [',', COMMA],
] as const) {
  for (const character of text) MEANING[character.charCodeAt(0)] = meaning;
}

/** Takes text in pieces and returns the elements that end in them. */
export interface Splitter<Bytes> {
  /** The elements that this piece completes, without the space around them. */
  push(chunk: Bytes): Bytes[];
  /** The last element, if the end of the text completes one. Throws if the text is cut off. */
  finish(): Bytes[];
}

interface SplitterOptions<Bytes> {
  /** `array`: `[a,b]`; `elements`: `a,b`. */
  form: 'array' | 'elements';
  /** An element of more bytes that is not whole within one piece is refused, which bounds the memory. */
  maxElementBytes?: number | undefined;
  /** Joins the parts of an element that came in several pieces. */
  join: (parts: readonly Bytes[]) => Bytes;
  /** Makes the error of a text that is no such array. */
  refuse: (message: string) => Error;
}

export function createSplitter<Bytes extends Uint8Array>(options: SplitterOptions<Bytes>): Splitter<Bytes> {
  const { join, refuse, maxElementBytes = Number.POSITIVE_INFINITY } = options;
  const isArray = options.form === 'array';
  let phase: 'before' | 'inside' | 'after' = isArray ? 'before' : 'inside';
  let depth = 0;
  let inString = false;
  let escaped = false;
  let found = 0;
  let pending: Bytes[] = [];
  let pendingBytes = 0;

  /** The pending element and its last part, without the space around it. */
  const take = (...last: Bytes[]): Bytes => {
    const [first = join([]), ...more] = [...pending, ...last];
    const whole = more.length === 0 ? first : join([first, ...more]);
    pending = [];
    pendingBytes = 0;
    return trim(whole) as Bytes;
  };

  const element = (bytes: Bytes): Bytes => {
    if (bytes.length === 0) throw refuse(`Record ${found} of the text is empty.`);
    found += 1;
    return bytes;
  };

  /** The offset behind the string's closing quote, or the chunk's end. */
  const skipString = (chunk: Bytes, from: number): number => {
    const start = escaped ? from + 1 : from;
    const end = endOfString(chunk, start);
    inString = end === -1;
    escaped = inString && endsEscaped(chunk, start);
    return inString ? chunk.length : end;
  };

  const skipOutside = (chunk: Bytes, from: number): number => {
    let i = from;
    while (i < chunk.length && isSpace(chunk[i])) i++;
    if (i === chunk.length) return i;
    if (phase === 'after') throw refuse(`The text goes on behind the array's end (${found} records).`);
    if (chunk[i] !== OPEN_BRACKET) throw refuse('The text is not a JSON array: it does not start with "[".');
    phase = 'inside';
    return i + 1;
  };

  return {
    push: (chunk) => {
      const elements: Bytes[] = [];
      const { length } = chunk;
      if (length === 0) return elements;
      let i = 0;
      if (phase !== 'inside') i = skipOutside(chunk, 0);
      let start = i;
      if (inString) i = skipString(chunk, i);
      while (i < length) {
        const meaning = MEANING[chunk[i] as number];
        i++;
        if (meaning === OTHER) continue;
        if (meaning === STRING) {
          i = skipString(chunk, i);
        } else if (meaning === OPEN) {
          depth++;
        } else if (meaning === COMMA) {
          if (depth === 0) {
            elements.push(element(take(chunk.subarray(start, i - 1) as Bytes)));
            start = i;
          }
        } else if (depth > 0) {
          depth--;
        } else {
          if (!isArray || chunk[i - 1] !== CLOSE_BRACKET) {
            throw refuse(`A bracket that closes nothing stands behind record ${found}.`);
          }
          const last = take(chunk.subarray(start, i - 1) as Bytes);
          if (last.length > 0 || found > 0) elements.push(element(last));
          phase = 'after';
          i = skipOutside(chunk, i);
          start = i;
        }
      }
      if (phase === 'inside' && start < length) {
        pending.push(chunk.subarray(start) as Bytes);
        pendingBytes += length - start;
        if (pendingBytes > maxElementBytes) {
          throw refuse(`Record ${found} of the text is larger than ${maxElementBytes} bytes.`);
        }
      }
      return elements;
    },
    finish: () => {
      if (isArray ? phase !== 'after' : inString || depth !== 0) {
        throw refuse(`The text ends in the middle of record ${found}.`);
      }
      return isArray ? [] : [element(take())];
    },
  };
}

function trim(bytes: Uint8Array): Uint8Array {
  let from = 0;
  let to = bytes.length;
  while (from < to && isSpace(bytes[from])) from++;
  while (to > from && isSpace(bytes[to - 1])) to--;
  return bytes.subarray(from, to);
}

/** Whether the text of a string breaks off behind a backslash that escapes what follows. */
function endsEscaped(bytes: Uint8Array, start: number): boolean {
  let before = bytes.length - 1;
  while (before >= start && bytes[before] === BACKSLASH) before -= 1;
  return (bytes.length - before) % 2 === 0;
}
