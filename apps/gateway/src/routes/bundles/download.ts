import { parseFileName } from '@packhouse/bundle';
import type { BlockRange } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import { bearerKey, requireWithinPlan } from '../../access/admission.js';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { block, COMMON_REFUSALS, kindSchema, object, partial, refusals, text } from '../common/schemas.js';
import { readKind } from './read-kind.js';
import { sendFile } from './send-file.js';

const content = { 'application/gzip': { schema: text(undefined, { format: 'binary' }) } };

const schema = {
  summary: 'Download a file: a gzipped JSON array with one element per block',
  tags: ['bundles'],
  operationId: 'downloadBundle',
  security: [{ apiKey: [] }],
  params: object({ kind: kindSchema, start_number: block(), end_number: block() }),
  headers: partial({
    range: text('One byte range, e.g. `bytes=0-99`.'),
    'if-range': text('ETag for which the range applies.'),
    'if-none-match': text('ETags that the client has.'),
  }),
  response: {
    200: { description: 'The file. Its ETag is its SHA-256 in hex.', content },
    206: { description: 'The requested byte range.', content },
    302: {
      description:
        'With DOWNLOADS=redirect: the object store serves the file, or the range, at the address in Location for five minutes; GET it without Authorization. packhouse-sha256 is the SHA-256 of the whole file in hex.',
      type: 'null',
    },
    304: { description: 'The client has this file.', type: 'null' },
    ...refusals(
      ...COMMON_REFUSALS,
      'file-unknown',
      'file-damaged',
      'reorganised',
      'precondition-failed',
      'range-unsatisfiable',
    ),
  },
};

/** `GET` and `HEAD {download_url}/<kind>/<start>-<end>.json.gz` of one network. */
export function downloadRoute(parts: GatewayParts, { network, files }: ServedNetwork): Route {
  return {
    method: 'GET',
    path: `${files.path}/:kind/:file`,
    host: files.host,
    name: 'download',
    network: network.id,
    schema,
    document: { path: '/{kind}/{start_number}-{end_number}.json.gz', servedAt: 'downloadUrl' },
    async answer(exchange) {
      const given = bearerKey(exchange.request.headers.authorization);
      const key = await parts.admission.admit(given, exchange);
      const kind = readKind(network, exchange.param('kind'));
      exchange.kind = kind;
      const range = toRange(exchange.param('file'));
      requireWithinPlan(key.plan, range.lastBlock);
      await sendFile(await parts.files.find(network.id, kind, range), exchange);
    },
  };
}

function toRange(file: string): BlockRange {
  try {
    return parseFileName(file);
  } catch (error) {
    if (!isPackhouseError(error, 'NAME_INVALID')) throw error;
    throw new Problem('file-unknown', {
      detail: 'A file is named <start>-<end>.json.gz, with block numbers in decimal without leading zeros.',
    });
  }
}
