import type { Network } from '@packhouse/networks';
import type { NftWorker } from '@packhouse/nft';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { RpcNetwork } from '../rpc/method.js';
import { bundlePointerRoute } from './bundle-pointer.js';
import { coverageRoute } from './coverage.js';
import { downloadRoute } from './download.js';
import { fileListRoute } from './file-list.js';
import { filtersRoute } from './filters.js';
import type { GatewayParts } from './gateway-parts.js';
import { jsonRpcRoutes } from './json-rpc.js';
import { manifestRoute } from './manifest.js';
import { manifestHeadRoute } from './manifest-head.js';
import { manifestKeysRoute } from './manifest-keys.js';
import { listMethods, methodListRoutes } from './method-list.js';
import { nftRefreshRoute, nftStatusRoute } from './nft.js';
import { openapiRoute } from './openapi.js';
import { healthzRoute, indexPageRoute, metricsRoute, readyzRoute } from './operation.js';
import { usageRoute } from './usage.js';

/** The services of a network that its routes need. */
export type RoutedServices = Pick<RpcNetwork, 'forwarder' | 'integrity' | 'methods' | 'shared' | 'known'> & {
  /** Refreshes tokens; absent if the family has no tokens. */
  readonly nft?: NftWorker | undefined;
};

/** The table of all routes; `take` returns the services of a network. */
export function createRoutes(
  parts: GatewayParts,
  networks: readonly ServedNetwork[],
  take: (network: Network) => RoutedServices,
): Route[] {
  const services = new Map(networks.map((served) => [served, take(served.network)]));
  const routes = [
    indexPageRoute(networks),
    healthzRoute,
    readyzRoute(parts),
    ...(parts.publicMetrics ? [metricsRoute(parts)] : []),
    manifestKeysRoute(parts),
    ...[...services].flatMap(([served, each]) => routesOf(parts, served, each)),
  ];
  const listed = [...services].map(([{ network }, { methods }]) => ({
    network: network.id,
    methods: listMethods({ network, methods }),
  }));
  return [openapiRoute(routes, networks, listed), ...routes];
}

function routesOf(
  parts: GatewayParts,
  served: ServedNetwork,
  { nft, forwarder, integrity, methods, shared, known }: RoutedServices,
): Route[] {
  const { answers: cache, held: memory } = parts;
  const metrics = parts.callMetrics(served.network.id);
  const at: RpcNetwork = {
    network: served.network,
    forwarder,
    integrity,
    methods,
    shared,
    known,
    cache,
    memory,
    metrics,
  };
  return [
    bundlePointerRoute(parts, served),
    manifestRoute(parts, served),
    manifestHeadRoute(parts, served),
    fileListRoute(parts, served),
    filtersRoute(parts, served),
    coverageRoute(parts, served),
    downloadRoute(parts, served),
    nftRefreshRoute(parts, served, () => nft?.wake()),
    nftStatusRoute(parts, served),
    ...methodListRoutes(parts, served, at),
    usageRoute(parts, served),
    ...jsonRpcRoutes(parts, served, at),
  ];
}
