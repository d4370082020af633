/** Deeper nesting than any request needs; it would only cost. */
const MAX_DEPTH = 64;

/** Thrown where a text is nested deeper than MAX_DEPTH. */
export class TooDeepError extends Error {}

/**
 * The members of a JSON object as they were written, each by its name; of a name that comes twice the last one counts,
 * as it does for JSON.parse. The text must be valid JSON.
 */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === '"') {
    const nameEnd = endOfValue(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.set(name, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

/** The elements of a JSON array as they were written, `limit` + 1 at most. The text must be valid JSON. */
export function elementsOf(text: string, limit: number): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== ']' && elements.length <= limit) {
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

/** Offset behind the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at + 1;
    } else if (char === '{' || char === '[') {
      depth += 1;
      if (depth > MAX_DEPTH) throw new TooDeepError();
    } else if (char === '}' || char === ']') {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (
      depth === 0 &&
      (char === ',' || char === ' ' || char === '\n' || char === '\r' || char === '\t')
    ) {
      return at;
    }
  }
  return text.length;
}

/** Offset of the closing quote. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; ; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22 || Number.isNaN(code)) return at;
  }
}
