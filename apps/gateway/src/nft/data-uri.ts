import { DOCUMENT_BYTES } from './fetch-document.js';

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The bytes of a `data:` URI (RFC 2397), whatever media type it names. */
export function readDataUri(uri: string): { bytes: Buffer } | { outcome: 'invalid_uri' | 'too_large' } {
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
    // Contracts write JSON with a lone % in it: what is no escape is taken as it is.
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
