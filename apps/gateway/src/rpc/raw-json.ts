/**
 * The members of a JSON object that have one of these names, as they were written, by name. The last of a repeated name
 * counts, as in JSON.parse. The text must be valid JSON.
 */
export function membersOf(text: string, wanted: readonly string[]): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === '"') {
    const nameEnd = endOfValue(text, at);
    const written = text.slice(at + 1, nameEnd - 1);
    const name = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    if (wanted.includes(name)) members.set(name, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

/** The elements of a JSON array as they were written. The text must be valid JSON. */
export function elementsOf(text: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== ']') {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return elements;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/**
 * Counts a short text in JSON that comes in pieces, by the native search instead of byte by byte.
 */
export function countOf(pieces: readonly Buffer[], text: string): number {
  let count = 0;
  /** The end of the last piece, too short to hold the text. */
  let end = '';
  for (const bytes of pieces) {
    const over = end + bytes.toString('latin1', 0, text.length - 1);
    if (over.includes(text)) count += 1;
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) count += 1;
    end = (end + bytes.toString('latin1', Math.max(0, bytes.length - text.length + 1))).slice(
      1 - text.length,
    );
  }
  return count;
}

/** Offset after the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (depth === 0) return at + 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      case COMMA:
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        if (depth === 0) return at;
        break;
      default:
    }
  }
  return text.length;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Offset of the closing quote: the next one after an even number of backslashes. */
function endOfString(text: string, open: number): number {
  for (let from = open + 1; ; ) {
    const at = text.indexOf('"', from);
    if (at === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
    from = at + 1;
  }
}
