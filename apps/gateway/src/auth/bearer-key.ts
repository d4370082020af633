const BEARER = /^Bearer +(\S+) *$/i;

/** The key of an Authorization header (RFC 6750, 2.1); absent where there is none of this scheme. */
export function bearerKey(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
