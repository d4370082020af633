import type { Plan } from '@packhouse/database';
import { lakePrefix, parseLakeFileName } from '@packhouse/lake';
import { bearerKey, requireWithinPlan } from '../../access/admission.js';
import { createBoundedStore } from '../../files/bounded-store.js';
import type { Exchange } from '../../http/exchange.js';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import { openLakeFile } from '../../lake/lake-file.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import { sendFile } from '../bundles/send-file.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { ICEBERG, refuseCatalog } from './refuse.js';

const AVRO_TYPE = 'application/octet-stream';

/**
 * `GET` and `HEAD /iceberg/files/<network>/<kind>/…`: the metadata and the data files that the catalog names. They are always
 * sent by this server: readers send its key with every request.
 */
export function lakeFileRoutes(
  parts: GatewayParts,
  { network }: ServedNetwork,
  origin: () => string,
): Route[] {
  const { admission, catalog, context, pacer } = parts;
  const store = createBoundedStore(parts.objectStore);
  const route = (path: string, answer: (exchange: Exchange, plan: Plan) => Promise<void>): Route => ({
    method: 'GET',
    path: `${ICEBERG}/files/${network.id}/:kind/${path}/:file`,
    name: 'lake-file',
    network: network.id,
    refuse: (exchange, error) => refuseCatalog({ admission, logger: context.logger }, exchange, error),
    async answer(exchange) {
      const key = await admission.admit(bearerKey(exchange.request.headers.authorization), exchange);
      await answer(exchange, key.plan);
    },
  });
  return [
    route('metadata', async (exchange, { maxBlock }) => {
      const table = await catalog.table(network.id, exchange.param('kind'));
      exchange.kind = table.kind;
      const request = { network: network.id, table, maxBlock, origin: origin() };
      const bytes = await catalog.metadata.file(request, exchange.param('file'));
      exchange
        .header('content-type', AVRO_TYPE)
        .header('cache-control', 'private, max-age=3600')
        .uncompressed();
      if (exchange.request.method === 'HEAD') exchange.header('content-length', bytes.length).sendNothing();
      else exchange.sendBuffer(bytes);
    }),
    route('data', async (exchange, plan) => {
      const [kind, name] = [exchange.param('kind'), exchange.param('file')];
      const blocks = parseLakeFileName(name);
      if (blocks === null) throw new Problem('file-unknown', { detail: 'This is no name of a data file.' });
      const file = await catalog.dataFile(
        network.id,
        kind,
        blocks,
        `${lakePrefix(network.id)}${kind}/${name}`,
      );
      requireWithinPlan(plan, file.lastBlock);
      await sendFile(openLakeFile(file, { store, pacer }), exchange);
    }),
  ];
}
