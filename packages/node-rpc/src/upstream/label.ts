import type { Upstream } from '@packhouse/networks';
import { PackhouseError, redact } from '@packhouse/runtime';

/** How messages name an upstream, and how they quote its answers without credentials. */
export interface NodeLabel {
  name: string;
  /** `main (https://host/***)`. */
  text: string;
  /** One line of at most 200 characters of the upstream's text, credentials removed. */
  quote(text: string): string;
}

const QUOTE_LENGTH = 200;
/** Shorter segments of an address (`v3`, `rpc`) are words, not keys. */
const SECRET_LENGTH = 8;

/**
 * Creates the label of one upstream: providers put keys in paths, queries and headers, and nodes echo them. Throws
 * NETWORKS_FILE_INVALID.
 */
export function createNodeLabel(upstream: Pick<Upstream, 'name' | 'url' | 'ws' | 'headers'>): NodeLabel {
  const addresses = [upstream.url];
  checkAddress(upstream.name, 'address', upstream.url, 'http', 8545);
  if (upstream.ws !== undefined) {
    checkAddress(upstream.name, 'WebSocket address', upstream.ws, 'ws', 8546);
    addresses.push(upstream.ws);
  }
  const secrets = [
    ...addresses.flatMap((address) => {
      const url = new URL(address);
      return [
        ...url.pathname.split('/'),
        ...url.searchParams.values(),
        decodeURIComponent(url.username),
        decodeURIComponent(url.password),
      ];
    }),
    ...Object.values(upstream.headers).flatMap((value) => [value, ...value.split(' ')]),
  ].filter((text) => text.length >= SECRET_LENGTH);
  return {
    name: upstream.name,
    text: `${upstream.name} (${redact(upstream.url)})`,
    quote: (text) => {
      let clean = text.slice(0, 4 * QUOTE_LENGTH);
      for (const secret of secrets) clean = clean.replaceAll(secret, '***');
      clean = redact(clean).replace(/\s+/g, ' ').trim();
      return clean.length > QUOTE_LENGTH ? `${clean.slice(0, QUOTE_LENGTH)}…` : clean;
    },
  };
}

function checkAddress(
  node: string,
  what: string,
  address: string,
  scheme: 'http' | 'ws',
  port: number,
): void {
  const { protocol } = URL.canParse(address) ? new URL(address) : { protocol: '' };
  if (protocol === `${scheme}:` || protocol === `${scheme}s:`) return;
  throw new PackhouseError({
    code: 'NETWORKS_FILE_INVALID',
    message: `The ${what} of node ${node} is "${redact(address)}", expected one of ${scheme} or ${scheme}s.`,
    hint: `Write it as ${scheme}://127.0.0.1:${port}.`,
  });
}
