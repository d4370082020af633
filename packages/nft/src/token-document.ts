/** The place of a token's document: the URI itself, addresses to try in turn, or none. */
type DocumentPlace =
  | { bytes: Buffer }
  | { urls: URL[] }
  | { outcome: 'invalid_uri' | 'invalid_scheme' | 'too_large' };

export interface UriPolicy {
  allowHttp: boolean;
  /** Replacements of `ipfs://`, tried in turn; each ends in a slash. */
  ipfsGateways: readonly string[];
  /** The same for `ar://`. */
  arweaveGateways: readonly string[];
}

/** An address on the web that a stranger chose, or why it is none. */
type WebAddress = { url: URL } | { outcome: 'invalid_uri' | 'invalid_scheme' };

/** Bytes of a document at most, as received and after decompression. */
export const DOCUMENT_BYTES = 1_048_576;
/** Characters of an address at most. */
const MAX_LENGTH = 8_192;
const PORTS = new Set(['', '80', '443']);
const CID = /^[A-Za-z0-9]{32,128}$/;
const ARWEAVE_ID = /^[A-Za-z0-9_-]{43}$/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Reads the address of a token's document as its contract returned it. */
export function placeOfDocument(uri: string, policy: UriPolicy): DocumentPlace {
  const text = uri.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return { outcome: 'invalid_uri' };
  if (scheme === 'data') return readDataUri(text);
  if (scheme === 'ipfs') {
    return through(policy.ipfsGateways, text.replace(/^ipfs:(\/\/)?(ipfs\/)?/i, ''), CID);
  }
  if (scheme === 'ar') return through(policy.arweaveGateways, text.replace(/^ar:(\/\/)?/i, ''), ARWEAVE_ID);
  if (scheme !== 'https' && scheme !== 'http') return { outcome: 'invalid_scheme' };
  const read = readWebAddress(text, policy);
  return 'outcome' in read ? read : { urls: [read.url] };
}

/** An id and a path below each gateway: the path must not leave the folder of the id. */
function through(gateways: readonly string[], rest: string, form: RegExp): DocumentPlace {
  if (gateways.length === 0) return { outcome: 'invalid_scheme' };
  const id = rest.split(/[/?#]/, 1)[0] ?? '';
  if (!form.test(id)) return { outcome: 'invalid_uri' };
  const urls: URL[] = [];
  for (const gateway of gateways) {
    const read = readWebAddress(gateway + rest, { allowHttp: true });
    if ('outcome' in read) return read;
    const inside = `${new URL(gateway).pathname}${id}`;
    const { pathname } = read.url;
    if (pathname !== inside && !pathname.startsWith(`${inside}/`)) return { outcome: 'invalid_uri' };
    urls.push(read.url);
  }
  return { urls };
}

/** Reads an address: https, http if that is allowed, ports 80 and 443, no credentials. */
export function readWebAddress(text: string, options: { allowHttp: boolean; base?: string }): WebAddress {
  if (text.length > MAX_LENGTH || !URL.canParse(text, options.base)) return { outcome: 'invalid_uri' };
  const url = new URL(text, options.base);
  if (url.protocol !== 'https:' && !(options.allowHttp && url.protocol === 'http:')) {
    return { outcome: 'invalid_scheme' };
  }
  const { username, password, port, hostname } = url;
  if (username !== '' || password !== '' || !PORTS.has(port) || hostname === '') {
    return { outcome: 'invalid_uri' };
  }
  url.hash = '';
  return { url };
}

/** The bytes of a `data:` URI (RFC 2397), whatever media type it names. */
function readDataUri(uri: string): { bytes: Buffer } | { outcome: 'invalid_uri' | 'too_large' } {
  const comma = uri.indexOf(',');
  if (comma < 0) return { outcome: 'invalid_uri' };
  const head = uri.slice(0, comma);
  const body = uri.slice(comma + 1);
  let bytes: Buffer;
  if (/;\s*base64$/i.test(head)) {
    const text = percentDecoded(body)?.replace(/\s+/g, '');
    if (text === undefined || !BASE64.test(text)) return { outcome: 'invalid_uri' };
    bytes = Buffer.from(text, 'base64');
  } else {
    // Contracts write JSON with a lone %: such text is used unchanged.
    bytes = Buffer.from(percentDecoded(body) ?? body, 'utf8');
  }
  return bytes.length > DOCUMENT_BYTES ? { outcome: 'too_large' } : { bytes };
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
