import { readDataUri } from './data-uri.js';
import { readWebAddress } from './web-address.js';

/** Where the document of a token is: in the URI itself, at addresses to be tried in turn, or nowhere. */
export type DocumentPlace =
  | { bytes: Buffer }
  | { urls: URL[] }
  | { outcome: 'invalid_uri' | 'invalid_scheme' | 'too_large' };

export interface UriPolicy {
  allowHttp: boolean;
  /** What `ipfs://` stands for, tried in turn; each ends in a slash, the CID comes behind it. */
  ipfsGateways: readonly string[];
  /** The same for `ar://` and the transaction's id. */
  arweaveGateways: readonly string[];
}

const CID = /^[A-Za-z0-9]{32,128}$/;
const ARWEAVE_ID = /^[A-Za-z0-9_-]{43}$/;

/** Reads what a contract says about where a token's document is. */
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

/** An id and a path below each gateway: the path must not lead out of what the id names. */
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
