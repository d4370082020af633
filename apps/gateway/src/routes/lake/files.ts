import { hash } from 'node:crypto';
import type { Plan } from '@packhouse/database';
import { lakePrefix, parseLakeFileName } from '@packhouse/lake';
import { bearerKey, requireWithinPlan } from '../../access/admission.js';
import { fileInMemory } from '../../files/served-file.js';
import type { Exchange } from '../../http/exchange.js';
import { byteRange } from '../../http/file-headers.js';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import { sendFile } from '../bundles/download.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { ICEBERG, refuseFile } from './refuse.js';

const AVRO_ENDING = '.avro';
const METADATA_TYPE = 'application/octet-stream';

/**
 * `GET` and `HEAD /iceberg/files/<network>/<kind>/…`: the metadata and the data files that the catalog names, as objects of
 * the bucket `iceberg`. They are always sent by this server.
 */
export function lakeFileRoutes(parts: GatewayParts, { network }: ServedNetwork): Route[] {
  const { admission, catalog, context, files } = parts;
  const route = (
    path: string,
    answer: (exchange: Exchange, plan: Plan) => Promise<void>,
    bytesOf?: (exchange: Exchange) => number,
  ): Route => ({
    method: 'GET',
    path: `${ICEBERG}/files/${network.id}/:kind/${path}/:file`,
    name: 'lake-file',
    network: network.id,
    refuse: (exchange, error) => refuseFile({ admission, logger: context.logger }, exchange, error),
    async answer(exchange) {
      const key = await admission.admitReader(fileKey(exchange), exchange, bytesOf?.(exchange));
      await answer(exchange, key.plan);
    },
  });
  return [
    route('metadata', async (exchange, { maxBlock }) => {
      const table = await catalog.table(network.id, exchange.param('kind'));
      exchange.kind = table.kind;
      const request = { network: network.id, table, maxBlock };
      const name = exchange.param('file');
      const bytes = await catalog.metadata.file(request, name);
      const body = { bytes, sha256: hash('sha256', bytes), release: () => undefined };
      // The properties of a table change without its snapshot.
      const file = fileInMemory(body, name.endsWith(AVRO_ENDING));
      await sendFile({ ...file, contentType: METADATA_TYPE }, exchange);
    }),
    route(
      'data',
      async (exchange, plan) => {
        const [kind, name] = [exchange.param('kind'), exchange.param('file')];
        const blocks = parseLakeFileName(name);
        if (blocks === null) throw new Problem('file-unknown', { detail: 'This is no name of a data file.' });
        const objectKey = `${lakePrefix(network.id)}${kind}/${name}`;
        const { table, file } = await catalog.dataFile(network.id, kind, blocks, objectKey);
        requireWithinPlan(plan, file.lastBlock);
        const served = await files.dataFile(network.id, table, file).catch((error: unknown) => {
          // It may have been written again, which its row says.
          catalog.forgetFile(objectKey);
          throw error;
        });
        await sendFile(served, exchange);
      },
      bytesAsked,
    ),
  ];
}

/** How many bytes a request asks for at most. */
function bytesAsked({ request: { method, headers } }: Exchange): number {
  if (method === 'HEAD') return 0;
  const range = byteRange(headers.range, Number.MAX_SAFE_INTEGER);
  if (range === 'unsatisfiable') return 0;
  return range === 'whole' ? Number.MAX_SAFE_INTEGER : range.end - range.start + 1;
}

/** The API key: of readers by S3 the session token, else a Bearer token. */
function fileKey({ request: { headers } }: Exchange): string | undefined {
  const token = headers['x-amz-security-token'];
  return typeof token === 'string' ? token : bearerKey(headers.authorization);
}
