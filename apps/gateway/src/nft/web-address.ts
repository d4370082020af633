/** An address on the web that a stranger gave, or why it is none. */
export type WebAddress = { url: URL } | { outcome: 'invalid_uri' | 'invalid_scheme' };

/** Characters of an address at most. */
const MAX_LENGTH = 8_192;
const PORTS = new Set(['', '80', '443']);

/** Reads an address: https, http where it is allowed, ports 80 and 443, no credentials. */
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
