import type { Context } from '@packhouse/runtime';
import type { HttpRequest, HttpResponse } from '../plain-http/transport.js';
import { type BodyMemory, readBody } from './body.js';
import { Exchange, type ExchangeParts } from './exchange.js';
import { type MaybePromise, thenSync } from './maybe-promise.js';
import { Problem } from './problem.js';
import { createRefuse } from './refuse.js';
import type { Fallback, Route } from './route.js';
import { createRouteTable, MAX_URL } from './route.js';
import type { ToldAddress } from './told-address.js';

interface RouterParts extends Pick<Context, 'logger' | 'tracing'> {
  routes: readonly Route[];
  fallback: Fallback;
  exchanges: ExchangeParts;
  /** Called when an exchange has ended. */
  record(exchange: Exchange): void;
  /** Called before a refusal is sent; must not fail. */
  beforeRefusal(exchange: Exchange): MaybePromise<unknown>;
  draining(): boolean;
  told: Pick<ToldAddress, 'refuse'>;
  /** Counts the bodies of requests. */
  bodies: BodyMemory;
}

/** Answers a request, and calls `left` when the exchange has ended. */
export type Router = (request: HttpRequest, response: HttpResponse, left: () => void) => void;

/** Creates the function that answers every request. Throws if two routes have the same address. */
export function createRouter(parts: RouterParts): Router {
  const { fallback, tracing } = parts;
  const table = createRouteTable(parts.routes);
  const fail = createRefuse(parts);

  const answer = (route: Route, exchange: Exchange): void => {
    try {
      const answered = route.answer(exchange);
      if (answered instanceof Promise) answered.catch((error: unknown) => fail(route, exchange, error));
    } catch (error) {
      fail(route, exchange, error);
    }
  };

  /** Reserves memory for a body of so many bytes, or of what is known of it. */
  const reserve = (exchange: Exchange, bytes: number): boolean => {
    const more = bytes - exchange.reserved;
    if (more <= 0) return true;
    if (!parts.bodies.reserve(exchange.reservedFor, more, exchange.reserved)) return false;
    exchange.reserved += more;
    return true;
  };

  const proceed = (route: Route, exchange: Exchange): void => {
    if (route.bodyLimit === undefined) {
      answer(route, exchange);
      return;
    }
    exchange.reservedFor = exchange.owner;
    readBody(
      exchange,
      { type: route.bodyType ?? 'application/json', limit: route.bodyLimit },
      reserve,
      (body) => {
        exchange.body = body;
        answer(route, exchange);
      },
      (problem) => fail(route, exchange, problem),
    );
  };

  /** Answers the preflight or refuses a request that no route takes. */
  const fallBack = (exchange: Exchange): void => {
    const { methods, forOperators } = table.methodsAt(exchange.request);
    if (!isPreflight(exchange) || forOperators || methods.length === 0) {
      refuseUnread(undefined, exchange, fallback.problem(exchange, methods));
      return;
    }
    fallback.preflight(exchange, methods).catch((error: unknown) => fail(undefined, exchange, error));
  };

  /** Refuses a request whose body is not read. */
  const refuseUnread = (route: Route | undefined, exchange: Exchange, problem: Problem): void => {
    if (hasBody(exchange)) exchange.connection('close');
    fail(route, exchange, problem);
  };

  const handle = (route: Route, exchange: Exchange): void => {
    exchange.route = route.name;
    exchange.network = route.network ?? '';
    const proceeded = thenSync(route.admit?.(exchange), () => proceed(route, exchange));
    if (proceeded instanceof Promise) proceeded.catch((error: unknown) => fail(route, exchange, error));
  };

  return (request, response, left) => {
    const exchange = new Exchange(request, response, parts.exchanges);
    response.on('close', () => {
      if (exchange.reserved > 0) parts.bodies.release(exchange.reservedFor, exchange.reserved);
      parts.record(exchange);
      left();
    });
    if (tracing !== undefined) {
      const method = request.method ?? '';
      exchange.span = tracing.request(method, {
        traceparent: request.headers.traceparent as string | undefined,
        facts: { 'http.request.method': method, 'packhouse.request_id': exchange.id },
      });
    }
    let route: Route | undefined;
    try {
      const found = table.find(request.method ?? '', request);
      if (found !== null) {
        route = found.store;
        exchange.params = found.params;
        exchange.query = found.searchParams;
      }
      if (request.headers.origin !== undefined && route?.forOperators !== true) exchange.openToPages();
      const problem = screen(route, exchange, parts);
      if (problem !== undefined) refuseUnread(route, exchange, problem);
      else if (route === undefined) fallBack(exchange);
      else handle(route, exchange);
    } catch (error) {
      fail(route, exchange, error);
    }
  };
}

/** Checks a request before its route sees it; returns the refusal. */
function screen(
  route: Route | undefined,
  exchange: Exchange,
  { draining, told }: Pick<RouterParts, 'draining' | 'told'>,
): Problem | undefined {
  const { method, url = '', headers } = exchange.request;
  if (draining()) {
    exchange.connection('close');
    if (route?.whileDraining !== true) {
      return new Problem('draining', {
        detail: 'The gateway is shutting down; try again in 1 second, on a new connection.',
        retryAfter: 1,
      });
    }
  }
  const upgrade = headers.upgrade === undefined ? undefined : refuseUpgrade(exchange);
  if (upgrade !== undefined) return upgrade;
  if (url.length > MAX_URL) {
    return new Problem('uri-too-long', { detail: `An address has at most ${MAX_URL} characters.` });
  }
  if (url === '*') return new Problem('request-malformed', { detail: 'An address begins with a slash.' });
  if (route === undefined) {
    return isDecodable(exchange.path)
      ? undefined
      : new Problem('request-malformed', { detail: 'The request could not be read.' });
  }
  if (route.bodyLimit === undefined && hasBody(exchange) && headers['content-length'] !== '0') {
    return new Problem('request-malformed', { detail: `A ${method} request has no body.` });
  }
  return route.tellsAddress === true ? told.refuse(headers.host) : undefined;
}

function isDecodable(path: string): boolean {
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}

function hasBody({ request: { headers } }: Exchange): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Fetch standard, 4.8. */
function isPreflight({ request: { method, headers } }: Exchange): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/**
 * The refusal of a request that asks for WebSocket; undefined for other protocols, which a server may ignore (RFC 9110,
 * 7.8), h2c too (RFC 9113, 3.1). The header Upgrade of a 426 names what is spoken here (RFC 9110, 15.5.22): naming
 * websocket would invite the same request again.
 *
 * Node's parser stops behind a request that asks for any upgrade, and drops what was pipelined behind it in the same
 * packet. So its answer closes the connection, and the client sends the rest again (RFC 9112, 9.3.2).
 */
function refuseUpgrade(exchange: Exchange): Problem | undefined {
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
