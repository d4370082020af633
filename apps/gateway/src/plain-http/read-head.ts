import type { IncomingHttpHeaders } from 'node:http';

/** The head of a request. */
export interface PlainHead {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Shared by the requests of a connection whose headers are alike: not to be changed. */
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body. */
  readonly bodyLength: number;
  /** The client will send no other request on the connection. */
  readonly isLast: boolean;
  /** Bytes of the head, the empty line included. */
  readonly byteLength: number;
}

/** Longer heads are not plain. */
const MAX_HEAD = 8_192;
/** Unreserved, sub-delimiters and what else a path and a query may have (RFC 3986, 3.3 and 3.4). */
const REQUEST_LINE = /^(GET|POST) (\/[\w\-.~!$&'()*+,;=:@%/?]*) HTTP\/1\.1\r\n/;
/** Lines of printable ASCII: no folding, no bare CR or LF, no tab, nothing above 0x7e. */
const FIELD_LINES = /^(?:[!-~][ -~]*\r\n)+$/;
/** Of the characters of a token (RFC 9110, 5.6.2) those that names are made of. */
const NAME = /^[A-Za-z0-9-]+$/;
const LENGTH = /^(?:0|[1-9]\d{0,14})$/;
/** Fields that change how the rest of a message or of the connection is read. */
const NOT_PLAIN = new Set(['transfer-encoding', 'upgrade', 'expect', 'trailer', 'proxy-connection']);
const MAX_NAMES = 1_000;

/**
 * Returns a function that reads the head of a request from the bytes that begin with it; null if it is not plain:
 * incomplete, long, or in any way unusual. Then node:http must read it. What is read here has the same meaning there
 * (read-head.test.ts).
 *
 * One reader for each connection: requests of one client often differ in their first line alone, and then the headers of
 * the one before are used again.
 */
export function createHeadReader(): (bytes: Buffer) => PlainHead | null {
  let lastText = '';
  let last: Fields | null = null;
  return (bytes) => {
    const text = bytes.toString('latin1', 0, MAX_HEAD);
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return null;
    const line = REQUEST_LINE.exec(text);
    if (line === null) return null;
    const fields = text.slice(line[0].length, end + 2);
    if (fields !== lastText || last === null) {
      last = readFields(fields);
      if (last === null) return null;
      lastText = fields;
    }
    const { headers, bodyLength, isLast } = last;
    const [, method, url] = line as unknown as [string, 'GET' | 'POST', string];
    return { method, url, headers, bodyLength, isLast, byteLength: end + 4 };
  };
}

type Fields = Pick<PlainHead, 'headers' | 'bodyLength' | 'isLast'>;

function readFields(text: string): Fields | null {
  if (!FIELD_LINES.test(text)) return null;
  const headers: Record<string, string> = {};
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon > end) return null;
    const name = toLowerName(text.slice(at, colon));
    if (name === null || NOT_PLAIN.has(name) || Object.hasOwn(headers, name)) return null;
    headers[name] = text.slice(colon + 1, end).trim();
    at = end + 2;
  }
  const { host, connection, 'content-length': length } = headers;
  if (host === undefined) return null;
  const option = (connection ?? 'keep-alive').toLowerCase();
  if (option !== 'keep-alive' && option !== 'close') return null;
  const isLast = option === 'close';
  if (length === undefined) return { headers, bodyLength: 0, isLast };
  return LENGTH.test(length) ? { headers, bodyLength: Number(length), isLast } : null;
}

const names = new Map<string, string>();

/** A field's name in lower case; null if it has unusual characters. Clients send the same few names. */
function toLowerName(name: string): string | null {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (!NAME.test(name)) return null;
  if (names.size >= MAX_NAMES) names.clear();
  const lower = name.toLowerCase();
  names.set(name, lower);
  return lower;
}
