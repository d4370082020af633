import { parseFileName } from '@packhouse/bundle';
import type { BlockRange } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import { bearerKey, requireWithinPlan } from '../../access/admission.js';
import type { ServedFile } from '../../files/served-file.js';
import { type Exchange, GZIP_TYPE } from '../../http/exchange.js';
import { byteRange, entityTag, ifRangePasses, matchPasses, noneMatchHits } from '../../http/file-headers.js';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { queryInvalid, readKind } from '../common/keyed-route.js';
import { block, COMMON_REFUSALS, kindSchema, object, partial, refusals, text } from '../common/schemas.js';

const content = { 'application/gzip': { schema: text(undefined, { format: 'binary' }) } };

const schema = {
  summary: 'Download a file: a gzipped JSON array with one element per block',
  tags: ['bundles'],
  operationId: 'downloadBundle',
  security: [{ apiKey: [] }],
  params: object({ kind: kindSchema, start_number: block(), end_number: block() }),
  querystring: partial({
    hash: text(
      'Hash of the block, as links of new blocks have it: the answer is 410 if another block has the number by now.',
    ),
  }),
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
      'query-invalid',
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
      const hash = readHash(exchange, range);
      await sendFile(await parts.files.find(network.id, kind, range, hash), exchange);
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

/** The hash of a link of a new block. Throws the problem `query-invalid`. */
function readHash({ query: { hash } }: Exchange, { firstBlock, lastBlock }: BlockRange): string | undefined {
  if (hash === undefined) return undefined;
  if (firstBlock !== lastBlock) throw queryInvalid('hash', 'is for the file of one block');
  if (typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash)) return hash;
  throw queryInvalid('hash', 'must be a block hash, 0x and 64 digits of 0-9 and a-f, once');
}

/**
 * Answers with a file in the order of RFC 9110: preconditions, HEAD, a range, the whole file; or, for the last
 * two, with the address where the object store has them.
 * The file is kept until the answer has ended, however slowly the client reads it.
 */
export async function sendFile(file: ServedFile, exchange: Exchange): Promise<void> {
  const { response } = exchange;
  response.once('close', () => file.release());
  if (response.closed) file.release();
  const { headers, method } = exchange.request;
  const tag = entityTag(file.sha256);
  const size = file.byteLength;
  const match = headers['if-match'];
  if (match !== undefined && !matchPasses(match, tag)) {
    throw new Problem('precondition-failed', { detail: 'The ETag of the file does not match If-Match.' });
  }
  exchange
    .header('etag', tag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', file.immutable ? 'private, immutable, max-age=31536000' : 'no-store');
  if (noneMatchHits(headers['if-none-match'], tag)) {
    exchange.status(304).sendNothing();
    return;
  }
  exchange.header('content-type', file.contentType ?? GZIP_TYPE).uncompressed();
  // Range is defined for GET only (RFC 9110, 14.2).
  if (method === 'HEAD') {
    exchange.header('content-length', size).sendNothing();
    return;
  }
  const part = ifRangePasses(headers['if-range'] as string | undefined, tag)
    ? byteRange(headers.range, size)
    : 'whole';
  if (part === 'unsatisfiable') {
    throw new Problem('range-unsatisfiable', {
      detail: `The file has ${size} bytes.`,
      headers: { 'content-range': `bytes */${size}` },
    });
  }
  // Its own entity tags are others than ours, so what depends on ours stays here.
  if (file.address !== undefined && match === undefined && headers['if-range'] === undefined) {
    const address = await file.address();
    exchange.removeHeader('content-type');
    exchange.removeHeader('etag');
    exchange.redirected = part === 'whole' ? size : part.end - part.start + 1;
    exchange
      .status(302)
      .header('location', address)
      .header('packhouse-sha256', file.sha256)
      .header('cache-control', 'no-store')
      .sendNothing();
    return;
  }
  const range = part === 'whole' ? { start: 0, end: size - 1 } : part;
  if (part !== 'whole') {
    exchange.status(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  }
  const body = await file.body(exchange.owner);
  if (body === null) {
    const pieces = await file.stream(range, exchange.owner).catch((error: unknown) => {
      if (response.closed) return null;
      throw error;
    });
    if (pieces === null) return;
    exchange.header('content-length', range.end - range.start + 1).sendStream(pieces, true);
  } else exchange.sendBuffer(part === 'whole' ? body.bytes : body.bytes.subarray(range.start, range.end + 1));
}
