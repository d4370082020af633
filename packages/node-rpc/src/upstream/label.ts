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
export function createNodeLabel(upstream: Upstream): NodeLabel {
  if (!URL.canParse(upstream.url) || !/^https?:$/.test(new URL(upstream.url).protocol)) {
    throw new PackhouseError({
      code: 'NETWORKS_FILE_INVALID',
      message: `The address of node ${upstream.name} is "${redact(upstream.url)}", expected one of http or https.`,
      hint: 'Write it as http://127.0.0.1:8545.',
    });
  }
  if (
    upstream.ws !== undefined &&
    !(URL.canParse(upstream.ws) && /^wss?:$/.test(new URL(upstream.ws).protocol))
  ) {
    throw new PackhouseError({
      code: 'NETWORKS_FILE_INVALID',
      message: `The WebSocket address of node ${upstream.name} is "${redact(upstream.ws)}", expected one of ws or wss.`,
      hint: 'Write it as ws://127.0.0.1:8546.',
    });
  }
  const addresses = [upstream.url, ...(upstream.ws === undefined ? [] : [upstream.ws])];
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
