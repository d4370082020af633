import type { Exchange } from './exchange.js';
import { Problem } from './problem.js';

/**
 * The refusal of a request that asks for WebSocket; undefined for other protocols, which a server may ignore (RFC 9110,
 * 7.8), h2c too (RFC 9113, 3.1). The header Upgrade of a 426 names what is spoken here (RFC 9110, 15.5.22): naming
 * websocket would invite the same request again.
 *
 * Node's parser stops behind a request that asks for any upgrade, and drops what was pipelined behind it in the same
 * packet. So its answer closes the connection, and the client sends the rest again (RFC 9112, 9.3.2).
 */
export function refuseUpgrade(exchange: Exchange): Problem | undefined {
  const { headers, httpVersion } = exchange.request;
  if (!toTokens(headers.connection).includes('upgrade')) return undefined;
  exchange.connection('close');
  // An HTTP/1.0 client cannot ask for it (RFC 9110, 7.8).
  const wanted = httpVersion === '1.0' ? [] : toTokens(headers.upgrade);
  if (!wanted.some((protocol) => protocol.split('/')[0] === 'websocket')) return undefined;
  exchange.connection('upgrade');
  return new Problem('upgrade-required', {
    detail:
      'WebSocket is not supported: send calls as POST over HTTP, and poll eth_getFilterChanges in place of subscriptions.',
    headers: { upgrade: 'HTTP/1.1' },
  });
}

/** The elements of a header that is a list of tokens, in lower case. */
function toTokens(header: string | undefined): string[] {
  return (header ?? '').split(',').map((token) => token.trim().toLowerCase());
}
