import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Logger } from '@packhouse/runtime';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { readBody } from './body.js';
import type { BodyMemory } from './body-memory.js';
import { Exchange, type ExchangeParts } from './exchange.js';
import { Problem, problemOfError } from './problem.js';
import type { Soon } from './soon.js';

/** One row of the table of routes. */
export interface Route {
  /** GET takes HEAD too. */
  readonly method: 'GET' | 'POST' | 'PUT';
  /** `:name` matches a part of at least one character, as a parameter. */
  readonly path: string;
  /** Host name that the route is served at; absent: all. */
  readonly host?: string | undefined;
  /** Name in the log and the metrics. */
  readonly name: string;
  readonly network?: string;
  /** Its documentation; absent: its path alone. */
  readonly schema?: object;
  /** Documentation of a route that every network has: written once, relative to the networks' addresses. */
  readonly document?: { readonly path: string; readonly servedAt: 'baseUrl' | 'downloadUrl' };
  /** It is answered even while the gateway drains. */
  readonly whileDraining?: boolean;
  /** Not for pages: a page must not use its reader's browser to read what is behind the reader's firewall. */
  readonly forOperators?: boolean;
  /** Bytes of a JSON body; absent: it takes none. */
  readonly bodyLimit?: number;
  /** Called before the body is read, so that no body is read from strangers. */
  admit?(exchange: Exchange): Soon<unknown>;
  answer(exchange: Exchange): Soon<unknown>;
  /** Sends a refusal; absent: it is sent as `application/problem+json`. */
  refuse?(exchange: Exchange, error: unknown): Soon<unknown>;
}

/** Handles requests that no route takes. */
export interface Unrouted {
  /** The reason; `methods` are those that the address takes. */
  problem(exchange: Exchange, methods: readonly string[]): Problem;
  refuse(exchange: Exchange, error: unknown): Soon<unknown>;
  /** Answers a browser's CORS preflight. */
  preflight(exchange: Exchange, methods: readonly string[]): Promise<unknown>;
}

interface RouterParts {
  routes: readonly Route[];
  unrouted: Unrouted;
  exchanges: ExchangeParts;
  logger: Logger;
  tracing: Context['tracing'];
  /** Called when an exchange has ended. */
  record(exchange: Exchange): void;
  /** Called before a refusal is sent; must not fail. */
  beforeRefusal(exchange: Exchange): Soon<unknown>;
  draining(): boolean;
  /** Counts the bodies of requests. */
  bodies: BodyMemory;
}

/** A match of the router library. */
interface Found {
  store: Route;
  params: Exchange['params'];
  searchParams: Exchange['query'];
}

/** Answers a request, and calls `left` when the exchange has ended. */
export type Router = (request: IncomingMessage, response: ServerResponse, left: () => void) => void;

/** Characters of path and query. */
const MAX_URL = 2_048;
/** HTTP methods of the routes, sorted. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT'] as const;

/** Creates the function that answers every request. Throws if two routes have the same address. */
export function createRouter(parts: RouterParts): Router {
  const { routes, unrouted, tracing, draining } = parts;
  const table = findMyWay({ maxParamLength: MAX_URL });
  for (const route of routes) {
    const methods: HTTPMethod[] = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
    const constraints = route.host === undefined ? {} : { host: route.host };
    table.on(methods, route.path, { constraints }, () => undefined, route);
  }
  const byHost = routes.some(({ host }) => host !== undefined);

  const find = (method: string, { headers, url = '' }: IncomingMessage) => {
    const host = byHost ? { host: hostName(headers.host) } : undefined;
    return table.find(method as HTTPMethod, url, host) as Found | null;
  };

  const others = ({ request }: Exchange): { methods: string[]; forOperators: boolean } => {
    const methods: string[] = [];
    let forOperators = false;
    for (const method of METHODS) {
      const found = find(method, request);
      if (found === null || Object.values(found.params).includes('')) continue;
      methods.push(method);
      forOperators ||= found.store.forOperators === true;
    }
    return { methods, forOperators };
  };

  const fail = (route: Route | undefined, exchange: Exchange, error: unknown): void => {
    if (mayBeLong(exchange)) exchange.header('connection', 'close');
    try {
      const refused = refuse(route ?? unrouted, exchange, error);
      if (refused instanceof Promise) refused.catch((again: unknown) => giveUp(exchange, again));
    } catch (again) {
      giveUp(exchange, again);
    }
  };

  const refuse = (
    { refuse: own }: Pick<Route, 'refuse'>,
    exchange: Exchange,
    error: unknown,
  ): Soon<unknown> => {
    if (exchange.response.headersSent) throw error;
    if (own !== undefined) return own(exchange, error);
    const problem = problemOfError(error);
    exchange.refusal = problem.reason;
    const before = parts.beforeRefusal(exchange);
    if (before instanceof Promise) return before.then(() => sendProblem(exchange, problem, parts.logger));
    sendProblem(exchange, problem, parts.logger);
    return undefined;
  };

  /** Closes the connection, so that the client notices an incomplete answer. */
  const giveUp = (exchange: Exchange, error: unknown): void => {
    if (!exchange.response.destroyed) {
      parts.logger.error({ requestId: exchange.id, err: error }, 'an answer could not be finished');
    }
    exchange.response.destroy();
  };

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
      route.bodyLimit,
      reserve,
      (body) => {
        exchange.body = body;
        answer(route, exchange);
      },
      (problem) => fail(route, exchange, problem),
    );
  };

  /** Returns the refusal of a request that no route will see; answers a preflight. */
  const screen = (route: Route | undefined, exchange: Exchange): Problem | 'answered' | undefined => {
    const { method, url = '', headers } = exchange.request;
    if (draining()) {
      exchange.header('connection', 'close');
      if (route?.whileDraining !== true) return refusedWhileDraining();
    }
    if (url.length > MAX_URL) {
      return new Problem('uri-too-long', { detail: `An address has ${MAX_URL} characters at most.` });
    }
    if (url === '*') return new Problem('request-malformed', { detail: 'An address begins with a slash.' });
    if (route === undefined) {
      if (!isDecodable(exchange.path)) {
        return new Problem('request-malformed', { detail: 'The request could not be read.' });
      }
      const { methods, forOperators } = others(exchange);
      if (!isPreflight(exchange) || forOperators || methods.length === 0) {
        return unrouted.problem(exchange, methods);
      }
      unrouted.preflight(exchange, methods).catch((error: unknown) => fail(undefined, exchange, error));
      return 'answered';
    }
    if (route.bodyLimit === undefined && hasBody(exchange) && headers['content-length'] !== '0') {
      return new Problem('request-malformed', { detail: `A ${method} request carries no body.` });
    }
    return undefined;
  };

  return (request, response, left) => {
    const exchange = new Exchange(request, response, parts.exchanges);
    response.on('close', () => {
      if (exchange.reserved > 0) parts.bodies.free(exchange.reservedFor, exchange.reserved);
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
      const found = find(request.method ?? '', request);
      if (found !== null) {
        route = found.store;
        exchange.params = found.params;
        exchange.query = found.searchParams;
      }
      if (request.headers.origin !== undefined && route?.forOperators !== true) exchange.openToPages();
      const screened = screen(route, exchange);
      if (screened === 'answered') return;
      if (screened !== undefined) {
        // The rest of a refused body is not read.
        if (hasBody(exchange)) exchange.header('connection', 'close');
        fail(route, exchange, screened);
        return;
      }
      const taken = route as Route;
      exchange.route = taken.name;
      exchange.network = taken.network ?? '';
      const admitted = taken.admit?.(exchange);
      if (admitted instanceof Promise) {
        admitted.then(() => proceed(taken, exchange)).catch((error: unknown) => fail(taken, exchange, error));
      } else proceed(taken, exchange);
    } catch (error) {
      fail(route, exchange, error);
    }
  };
}

/** The host name in a Host header, in lower case without the port; empty if there is none. */
export function hostName(header: string | undefined): string {
  return (header ?? '').replace(/:\d*$/, '').toLowerCase();
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

/**
 * The rest of a refused body is read to its end if it is at most as long; otherwise the connection is closed: to read and
 * drop it costs as much as to open a new one.
 */
const LONGEST_REST = 65_536;

/** Whether a body may be longer than is read of it in vain. */
function mayBeLong({ request: { headers, complete } }: Exchange): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > LONGEST_REST;
}

/** Fetch standard, 4.8. */
function isPreflight({ request: { method, headers } }: Exchange): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

function refusedWhileDraining(): Problem {
  return new Problem('draining', {
    detail: 'The gateway is shutting down; try again in 1 second, on a new connection.',
    members: { retryAfter: 1, retryAfterMs: 1_000 },
    headers: { 'retry-after': '1' },
  });
}

/** Headers that a route may have set for a file before it failed. */
const FILE_HEADERS = ['etag', 'accept-ranges', 'content-length', 'content-range'];

/** Sends a refusal as `application/problem+json`; faults of the gateway are logged with their cause. */
export function sendProblem(exchange: Exchange, problem: Problem, logger: Logger): void {
  // A damaged file is logged once, when it is found.
  const known = problem.reason === 'file-damaged' && problem.cause === undefined;
  if (problem.status >= 500 && problem.reason !== 'draining' && !known) {
    logger.error({ requestId: exchange.id, err: problem.cause ?? problem }, problem.message);
  }
  exchange.refusal = problem.reason;
  for (const name of FILE_HEADERS) exchange.removeHeader(name);
  for (const [name, value] of Object.entries(problem.headers)) exchange.header(name, value);
  exchange
    .status(problem.status)
    .header('cache-control', 'no-store')
    .header('x-request-id', exchange.id)
    .sendText(JSON.stringify(problem.toBody(exchange.id)), 'application/problem+json; charset=utf-8');
}
