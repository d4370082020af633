import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { HttpRequest } from '../plain-http/transport.js';
import type { Exchange } from './exchange.js';
import type { MaybePromise } from './maybe-promise.js';
import type { Problem } from './problem.js';

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
  /** Its answer has addresses below that of this server: only for clients that reach the server there. */
  readonly tellsAddress?: boolean;
  /** Bytes of a body; absent: it takes none. */
  readonly bodyLimit?: number;
  /** Media type of the body; absent: JSON. */
  readonly bodyType?: 'application/x-www-form-urlencoded';
  /** Called before the body is read, so that no body is read from strangers. */
  admit?(exchange: Exchange): MaybePromise<unknown>;
  answer(exchange: Exchange): MaybePromise<unknown>;
  /** Sends a refusal; absent: it is sent as `application/problem+json`. */
  refuse?(exchange: Exchange, error: unknown): MaybePromise<unknown>;
}

/** Handles requests that no route takes. */
export interface Fallback {
  /** The reason; `methods` are those that the address takes. */
  problem(exchange: Exchange, methods: readonly string[]): Problem;
  refuse(exchange: Exchange, error: unknown): MaybePromise<unknown>;
  /** Answers a browser's CORS preflight. */
  preflight(exchange: Exchange, methods: readonly string[]): Promise<unknown>;
}

/** Characters of path and query. */
export const MAX_URL = 2_048;
/** HTTP methods of the routes, sorted. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT'] as const;

/** A match of the router library. */
interface Found {
  store: Route;
  params: Exchange['params'];
  searchParams: Exchange['query'];
}

/** Creates the table of routes. Throws if two routes have the same address. */
export function createRouteTable(routes: readonly Route[]) {
  const table = findMyWay({ maxParamLength: MAX_URL });
  for (const route of routes) {
    const methods: HTTPMethod[] = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
    const constraints = route.host === undefined ? {} : { host: route.host };
    table.on(methods, route.path, { constraints }, () => undefined, route);
  }
  const byHost = routes.some(({ host }) => host !== undefined);

  const find = (method: string, { headers, url = '' }: HttpRequest): Found | null => {
    const host = byHost ? { host: hostName(headers.host) } : undefined;
    return table.find(method as HTTPMethod, url, host) as Found | null;
  };

  return {
    find,
    /** The methods that the address of a request takes; `forOperators`: one of them is not for pages. */
    methodsAt(request: HttpRequest): { methods: string[]; forOperators: boolean } {
      const methods: string[] = [];
      let forOperators = false;
      for (const method of METHODS) {
        const found = find(method, request);
        if (found === null || Object.values(found.params).includes('')) continue;
        methods.push(method);
        forOperators ||= found.store.forOperators === true;
      }
      return { methods, forOperators };
    },
  };
}

/** The host name in a Host header, in lower case without the port; empty if there is none. */
export function hostName(header: string | undefined): string {
  return (header ?? '').replace(/:\d*$/, '').toLowerCase();
}
