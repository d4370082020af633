import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { HttpRequest } from '../plain-http/transport.js';
import type { Exchange } from './exchange.js';
import type { Route } from './route.js';

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
