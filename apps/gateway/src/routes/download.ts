import { parseFileName } from '@packhouse/bundle';
import type { BlockRange } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import { bearerKey, refuseAbovePlan } from '../access/admission.js';
import { Problem } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { chosenKind } from './chosen-kind.js';
import type { GatewayParts } from './gateway-parts.js';
import { COMMON_REFUSALS, kindSchema, refusals } from './schemas.js';
import { sendFile } from './send-file.js';

const bytes = {
  content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } },
} as const;

const schema = {
  summary: 'A file: a JSON array with one element a block, gzipped',
  tags: ['bundles'],
  operationId: 'downloadBundle',
  security: [{ apiKey: [] }],
  params: {
    type: 'object',
    required: ['kind', 'start_number', 'end_number'],
    properties: {
      kind: kindSchema,
      start_number: { type: 'integer', minimum: 0 },
      end_number: { type: 'integer', minimum: 0 },
    },
  },
  headers: {
    type: 'object',
    properties: {
      range: { type: 'string', description: 'One range of bytes, as in `bytes=0-99`.' },
      'if-range': { type: 'string', description: 'ETag for which the range counts.' },
      'if-none-match': { type: 'string', description: 'ETags that the client has.' },
    },
  },
  response: {
    200: { description: 'The file. Its ETag is its SHA-256 in hex.', ...bytes },
    206: { description: 'The range of bytes asked for.', ...bytes },
    302: {
      description:
        'With DOWNLOADS=redirect: the file, or the range, is at the address in Location for five minutes; GET it without Authorization. packhouse-sha256 is the SHA-256 of the whole file in hex.',
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
} as const;

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
      const kind = chosenKind(network, exchange.param('kind'));
      exchange.kind = kind;
      const range = rangeOf(exchange.param('file'));
      refuseAbovePlan(key.plan, range.end);
      await sendFile(await parts.files.find(network.id, kind, range), exchange);
    },
  };
}

function rangeOf(file: string): BlockRange {
  try {
    return parseFileName(file);
  } catch (error) {
    if (!isPackhouseError(error, 'NAME_INVALID')) throw error;
    throw new Problem('file-unknown', {
      detail: 'A file is named <start>-<end>.json.gz, with block numbers in decimal without leading zeros.',
    });
  }
}
