import type { Network } from '@packhouse/networks';
import type { NftWorker } from '@packhouse/nft';
import type { Route } from '../http/route.js';
import type { ToldAddress } from '../http/told-address.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { RpcNetwork } from '../rpc/method.js';
import { bundlePointerRoute } from './bundles/bundle-pointer.js';
import { coverageRoute } from './bundles/coverage.js';
import { downloadRoute } from './bundles/download.js';
import { feedRoute } from './bundles/feed.js';
import { fileListRoute } from './bundles/file-list.js';
import { filtersRoute } from './bundles/filters.js';
import { manifestHeadRoute, manifestRoute } from './bundles/manifest.js';
import type { GatewayParts } from './common/gateway-parts.js';
import { jsonRpcRoutes } from './json-rpc.js';
import { catalogRoutes } from './lake/catalog.js';
import { lakeFileRoutes } from './lake/files.js';
import { lakeManifestRoute } from './lake/manifest.js';
import { manifestKeysRoute } from './manifest-keys.js';
import { listMethods, methodListRoutes } from './method-list.js';
import { nftRefreshRoute, nftStatusRoute } from './nft.js';
import { openapiRoute } from './openapi.js';
import { healthzRoute, indexPageRoute, metricsRoute, readyzRoute } from './operation.js';
import { usageRoute } from './usage.js';

/** The services of a network that its routes need. */
export type RoutedServices = Pick<
  RpcNetwork,
  'forwarder' | 'integrity' | 'newestLogs' | 'emptyLists' | 'methods' | 'shared' | 'requestCache'
> & {
  /** Refreshes tokens; absent if the family has no tokens. */
  readonly nft?: NftWorker | undefined;
};

/** The table of all routes; `take` returns the services of a network. */
export function createRoutes(
  parts: GatewayParts,
  networks: readonly ServedNetwork[],
  told: Pick<ToldAddress, 'origin'>,
  take: (network: Network) => RoutedServices,
): Route[] {
  const services = new Map(networks.map((served) => [served, take(served.network)]));
  const routes = [
    indexPageRoute(networks),
    healthzRoute,
    readyzRoute(parts),
    ...(parts.publicMetrics ? [metricsRoute(parts)] : []),
    manifestKeysRoute(parts),
    ...[...services].flatMap(([served, each]) => getRoutes(parts, served, each)),
  ];
  // Documented by the Iceberg REST specification, so not by this server.
  const lake = [
    ...catalogRoutes(parts, networks, told),
    ...networks
      .filter(({ network }) => network.bundles.enabled)
      .flatMap((served) => lakeFileRoutes(parts, served)),
  ];
  const listed = [...services].map(([{ network }, { methods }]) => ({
    network: network.id,
    methods: listMethods({ config: network, methods }),
  }));
  return [openapiRoute(routes, networks, listed), ...routes, ...lake];
}

function getRoutes(parts: GatewayParts, served: ServedNetwork, services: RoutedServices): Route[] {
  const network: RpcNetwork = {
    ...services,
    config: served.network,
    cache: parts.answers,
    memory: parts.answerMemory,
    metrics: parts.callMetrics(served.network.id),
  };
  return [
    bundlePointerRoute(parts, served),
    manifestRoute(parts, served),
    manifestHeadRoute(parts, served),
    lakeManifestRoute(parts, served),
    fileListRoute(parts, served),
    filtersRoute(parts, served),
    coverageRoute(parts, served),
    feedRoute(parts, served),
    downloadRoute(parts, served),
    nftRefreshRoute(parts, served, () => services.nft?.wake()),
    nftStatusRoute(parts, served),
    ...methodListRoutes(parts, served, network),
    usageRoute(parts, served),
    ...jsonRpcRoutes(parts, served, network),
  ];
}
