import type { KeyRow } from '@packhouse/database';
import { bearerKey } from '../../access/admission.js';
import type { Exchange } from '../../http/exchange.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { ICEBERG, refuseCatalog } from './refuse.js';

/** What the catalog can, in the words of the specification. */
const ENDPOINTS = [
  'GET /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
];

/**
 * The read-only part of the Iceberg REST catalog: a namespace for each network, in it a table for each kind of data. Any
 * other method of an address is refused by the table of routes.
 */
export function catalogRoutes(
  parts: GatewayParts,
  networks: readonly ServedNetwork[],
  origin: () => string,
): Route[] {
  const { catalog } = parts;
  const withBundles = networks.filter(({ network }) => network.bundles.enabled);
  const route = (
    path: string,
    network: string | undefined,
    answer: (exchange: Exchange, key: KeyRow) => Promise<unknown>,
  ): Route => ({
    method: 'GET',
    path: `${ICEBERG}/v1${path}`,
    name: 'lake',
    ...(network === undefined ? {} : { network }),
    refuse: (exchange, error) =>
      refuseCatalog({ admission: parts.admission, logger: parts.context.logger }, exchange, error),
    async answer(exchange) {
      const key = await parts.admission.admit(bearerKey(exchange.request.headers.authorization), exchange);
      exchange.header('cache-control', 'no-store');
      await answer(exchange, key);
    },
  });
  const sees = (key: KeyRow, id: string): boolean => key.network === null || key.network === id;
  return [
    route('/config', undefined, async (exchange) => {
      exchange.sendJson({ defaults: {}, overrides: {}, endpoints: ENDPOINTS });
    }),
    route('/namespaces', undefined, async (exchange, key) => {
      // Namespaces have none within.
      const isTop = exchange.query.parent === undefined || exchange.query.parent === '';
      const seen = withBundles.filter(({ network: { id } }) => isTop && sees(key, id));
      const filled: string[][] = [];
      for (const { network } of seen)
        if ((await catalog.tables(network.id)).length > 0) filled.push([network.id]);
      exchange.sendJson({ namespaces: filled });
    }),
    ...withBundles.flatMap(({ network: { id } }) => [
      route(`/namespaces/${id}`, id, async (exchange) => {
        if (exchange.request.method === 'HEAD') exchange.status(204).sendNothing();
        else exchange.sendJson({ namespace: [id], properties: {} });
      }),
      route(`/namespaces/${id}/tables`, id, async (exchange) => {
        const tables = await catalog.tables(id);
        exchange.sendJson({ identifiers: tables.map(({ kind }) => ({ namespace: [id], name: kind })) });
      }),
      route(`/namespaces/${id}/tables/:table`, id, async (exchange, key) => {
        const table = await catalog.table(id, exchange.param('table'));
        exchange.kind = table.kind;
        if (exchange.request.method === 'HEAD') {
          exchange.status(204).sendNothing();
          return;
        }
        const request = { network: id, table, maxBlock: key.plan.maxBlock, origin: origin() };
        const { location, metadata } = await catalog.metadata.load(request);
        exchange.sendJson({ 'metadata-location': location, metadata, config: {} });
      }),
    ]),
  ];
}
