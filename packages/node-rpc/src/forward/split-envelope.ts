/** Where the value of an answer begins. */
export interface ValueStart {
  kind: 'result' | 'error';
  /** Offset of its first byte. */
  start: number;
  /** JSON text of the answer's id, if that stands before the value. */
  id: string | undefined;
}

const [QUOTE, BACKSLASH, COLON, COMMA, OPEN, CLOSE] = [0x22, 0x5c, 0x3a, 0x2c, 0x7b, 0x7d];

/**
 * Finds `result` or `error` in the beginning of an answer (JSON-RPC 2.0, section 5) without parsing the value. Null:
 * more bytes are needed, or it is no answer; 4 KiB are always enough to decide.
 */
export function findValue(bytes: Buffer): ValueStart | null {
  let id: string | undefined;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN) return null;
  at = skipSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const keyEnd = endOfString(bytes, at);
    if (keyEnd === -1) return null;
    const key = bytes.toString('latin1', at + 1, keyEnd - 1);
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) return null;
    at = skipSpace(bytes, at + 1);
    if (at >= bytes.length) return null;
    if (key === 'result') return { kind: 'result', start: at, id };
    if (key === 'error' && bytes[at] === OPEN) return { kind: 'error', start: at, id };
    const start = at;
    at = bytes[at] === QUOTE ? endOfString(bytes, at) : endOfScalar(bytes, at);
    if (at === -1) return null;
    if (key === 'id') id = bytes.toString('latin1', start, at);
    at = skipSpace(bytes, at);
    if (bytes[at] !== COMMA) return null;
    at = skipSpace(bytes, at + 1);
  }
  return null;
}

/** The members that follow the value, to the end of the answer; null if it does not end as one object. */
export function membersBehind(behind: string): Readonly<Record<string, unknown>> | null {
  if (behind === '}') return {};
  try {
    const { value: _, ...members } = JSON.parse(`{"value":0${behind}`) as Record<string, unknown>;
    return members;
  } catch {
    return null;
  }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] as number)) at += 1;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Offset after the closing quote, or -1. */
function endOfString(bytes: Buffer, open: number): number {
  for (let at = open + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return -1;
}

/** Offset after a number or word; -1 if it continues or is something else. */
function endOfScalar(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === COMMA || byte === CLOSE || isSpace(byte)) return at > from ? at : -1;
    if (byte === OPEN || byte === 0x5b) return -1;
  }
  return -1;
}
