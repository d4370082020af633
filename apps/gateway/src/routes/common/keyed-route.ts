import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';

/** A route of one network below `{base_url}<KEY>`: GET, unless it says otherwise. */
export function keyedRoute(
  { network, base }: ServedNetwork,
  path: string,
  route: Pick<Route, 'name' | 'schema' | 'bodyLimit' | 'admit' | 'answer'> & Partial<Pick<Route, 'method'>>,
): Route {
  return {
    method: 'GET',
    path: `${base.path}/:key${path}`,
    host: base.host,
    network: network.id,
    document: { path: `/{key}${path.replace(/:(\w+)/g, '{$1}')}`, servedAt: 'baseUrl' },
    ...route,
  };
}
