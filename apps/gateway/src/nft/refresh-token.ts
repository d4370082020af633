import type { NftOutcome, NftTokenRef } from '@packhouse/database';
import { type TokenStandard, uriOf } from './ask-contract.js';
import type { CoreNode } from './core-node.js';
import type { FetchDocument } from './fetch-document.js';
import { placeOfDocument, type UriPolicy } from './token-document.js';

/** What came of refreshing a token. */
export interface RefreshedToken {
  outcome: NftOutcome;
  standard?: TokenStandard;
  uri?: string;
  /** JSON text, as it was fetched. */
  metadata?: string;
}

/** Of a URI that is kept, characters. */
const KEPT_URI = 2_048;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Asks a contract where a token's document is, and fetches it. Throws NodeTroubleError, and what the signal says. */
export async function refreshToken(
  parts: { node: CoreNode; fetchDocument: FetchDocument; uris: UriPolicy },
  token: NftTokenRef & { standard: TokenStandard | null },
  signal: AbortSignal,
): Promise<RefreshedToken> {
  const { standard } = token;
  if (standard === null) return { outcome: 'missing_token' };
  const said = await uriOf(parts.node, { ...token, standard }, signal);
  if ('outcome' in said) return { outcome: said.outcome, standard };
  // Postgres has no place for a zero in a text.
  const known = { standard, uri: said.uri.slice(0, KEPT_URI).replaceAll('\0', '') };
  const document = await documentOf(parts, said.uri, signal);
  if ('outcome' in document) return { ...known, outcome: document.outcome };
  const metadata = objectText(document.bytes);
  return metadata === null
    ? { ...known, outcome: 'invalid_json' }
    : { ...known, outcome: 'indexed', metadata };
}

async function documentOf(
  parts: { fetchDocument: FetchDocument; uris: UriPolicy },
  uri: string,
  signal: AbortSignal,
): Promise<{ bytes: Buffer } | { outcome: Exclude<NftOutcome, 'indexed'> }> {
  const place = placeOfDocument(uri, parts.uris);
  if (!('urls' in place)) return place;
  let last: Awaited<ReturnType<FetchDocument>> = { outcome: 'unreachable' };
  for (const url of place.urls) {
    last = await parts.fetchDocument(url, signal);
    // Another gateway may have what this one has not.
    if (!('outcome' in last) || (last.outcome !== 'unreachable' && last.outcome !== 'throttled')) break;
  }
  return last;
}

/** The text of a JSON object in UTF-8, as it came; null where it is none. */
function objectText(bytes: Buffer): string | null {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : null;
  } catch {
    return null;
  }
}
