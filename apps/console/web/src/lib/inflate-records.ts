/** The first records of a bundle, and what inflating it told. */
export interface Records {
  /** The elements of its array, one a block. */
  first: unknown[];
  /** Bytes of the whole text. */
  rawBytes: number;
}

/** Most characters of records that are kept: a block of traces may have many millions. */
const MOST_TEXT = 8_000_000;

/**
 * Inflates a bundle, a gzipped JSON array, to its end (which checks its CRC-32), and parses its first records. Throws if
 * it is none.
 */
export async function inflateRecords(file: Blob, most: number): Promise<Records> {
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const decoder = new TextDecoder();
  const cut = createCutter(most);
  let rawBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    rawBytes += value.byteLength;
    if (!cut.full()) cut.push(decoder.decode(value, { stream: true }));
  }
  return { first: cut.records().map((text) => JSON.parse(text) as unknown), rawBytes };
}

/** Cuts the elements out of the text of an array that comes in pieces. */
function createCutter(most: number) {
  const found: string[] = [];
  let [text, at, depth, start, inString, escaped, over] = ['', 0, 0, -1, false, false, false];
  const take = (end: number): void => {
    if (start !== -1) found.push(text.slice(start, end));
    start = -1;
  };
  const look = (character: string): void => {
    if (inString) {
      if (escaped) escaped = false;
      else if (character === '\\') escaped = true;
      else if (character === '"') inString = false;
      return;
    }
    if (character === '"') inString = true;
    if (character === '[' || character === '{') depth += 1;
    if (character === ']' || character === '}') depth -= 1;
    if ((character === ',' && depth === 1) || depth === 0) take(at);
    else if (start === -1 && depth > 0 && (at > 0 || character !== '[') && character.trim() !== '')
      start = at;
  };
  return {
    full: () => over || found.length >= most,
    push(piece: string): void {
      text += piece;
      for (; at < text.length && found.length < most; at++) look(text[at] as string);
      over = text.length > MOST_TEXT;
    },
    records: (): readonly string[] => found.slice(0, most),
  };
}
