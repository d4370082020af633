import { createHash, hash } from 'node:crypto';
import { filterKey } from '@packhouse/bundle';
import type { FilteredFile } from '@packhouse/database';
import { isPackhouseError, REQUESTS_AT_ONCE } from '@packhouse/runtime';
import pLimit from 'p-limit';
import { createInFlight } from '../../access/in-flight.js';
import { sentNotModified } from '../../http/file-headers.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { keyedRoute } from '../common/keyed-route.js';
import { COMMON_REFUSALS, keyParams, refusals, text } from '../common/schemas.js';
import { rangeParameters, readFilesQuery } from './range-query.js';

/** Files on a page: by default, and at most. A filter has about 10 KB. */
const LIMITS = { usual: 200, most: 1_000 };
/** Bytes of the filters on a page at most, unless one has more. */
const PAGE_BYTES = 2_097_152;
/** Objects of one page that are read at a time. */
const READS = 16;
const HEAD_BYTES = 52;

const schema = {
  summary: 'Get the filters of the published files of a block range',
  description:
    'Filters to skip files without matching logs; see docs/formats.md. For each published file that overlaps the range, in ascending order: first and last block (8 bytes each, big-endian), the SHA-256 of the file (32), the length of its filter (4), and the filter. A file with length 0 has no filter and must be downloaded.',
  tags: ['bundles'],
  operationId: 'listFilters',
  params: keyParams,
  querystring: rangeParameters(LIMITS, 'The header packhouse-filters-next of the previous page.'),
  response: {
    200: {
      description:
        'A page; the header packhouse-filters-next is the cursor of the next page, absent on the last one.',
      content: { 'application/octet-stream': { schema: text(undefined, { format: 'binary' }) } },
    },
    304: { description: 'The client has this page.', type: 'null' },
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'query-invalid'),
  },
};

/** `GET {base_url}<KEY>/bundle-api/filters?kind=&from=&to=&cursor=&limit=` of one network. */
export function filtersRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const { bundleFilters } = parts.database.network(network.id);
  const enter = createInFlight('pages of filters');
  return keyedRoute(served, '/bundle-api/filters', {
    name: 'filters',
    schema,
    async answer(exchange) {
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      const { kind, limit, range } = readFilesQuery(exchange, network, key.plan, LIMITS);
      // A page stays in memory until it is sent.
      const leave = enter(key.id, REQUESTS_AT_ONCE.filters);
      exchange.response.once('close', leave);
      if (exchange.response.closed) leave();
      const found = await bundleFilters.of(kind, range, limit + 1);
      const allowed = found.filter(({ lastBlock }) => lastBlock <= (key.plan.maxBlock ?? lastBlock));
      const page = fitting(allowed.slice(0, limit));
      const next = allowed[page.length];
      // A file in the middle may get its first filter later, or another version; a client compares the file's hash.
      const final = next !== undefined && page.every(({ filter }) => filter !== null);
      exchange.header('cache-control', `private, ${final ? 'immutable, max-age=31536000' : 'no-cache'}`);
      if (next !== undefined) exchange.header('packhouse-filters-next', next.firstBlock);
      if (sentNotModified(exchange, getTag(page, next), Number.POSITIVE_INFINITY)) return;
      exchange.header('content-type', 'application/octet-stream');
      if (exchange.request.method === 'HEAD') {
        exchange.sendNothing();
        return;
      }
      const turns = pLimit(READS);
      const frames = await Promise.all(page.map((file) => turns(() => getFrame(parts, file))));
      // A filter that could not be read now may be there later.
      if (frames.some((frame, n) => frame.length === HEAD_BYTES && page[n]?.filter !== null)) {
        exchange.header('cache-control', 'no-store').removeHeader('etag');
      }
      exchange.sendBuffer(Buffer.concat(frames));
    },
  });
}

/** The files whose filters fit on a page: one at least. */
function fitting(files: readonly FilteredFile[]): FilteredFile[] {
  let bytes = 0;
  const end = files.findIndex(({ filter }, n) => {
    bytes += filter?.bytes ?? 0;
    return n > 0 && bytes > PAGE_BYTES;
  });
  return files.slice(0, end === -1 ? files.length : end);
}

function getTag(page: readonly FilteredFile[], next: FilteredFile | undefined): string {
  const digest = createHash('sha256');
  for (const { firstBlock, lastBlock, sha256, filter } of page)
    digest.update(`${firstBlock}-${lastBlock} ${sha256} ${filter?.sha256}\n`);
  return digest.update(String(next?.firstBlock)).digest('hex').slice(0, 32);
}

/** A file without a filter if its filter is missing or damaged: then it is loaded, which is never wrong. */
async function getFrame(
  { context, store }: Pick<GatewayParts, 'context' | 'store'>,
  { firstBlock, lastBlock, sha256, objectKey, filter }: FilteredFile,
): Promise<Buffer> {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeBigUInt64BE(BigInt(firstBlock), 0);
  head.writeBigUInt64BE(BigInt(lastBlock), 8);
  head.write(sha256, 16, 'hex');
  if (filter === null) return head;
  const key = filterKey(objectKey);
  const bytes = await store.read(key).catch((error: unknown) => {
    if (isPackhouseError(error, 'OBJECT_MISSING')) return Buffer.alloc(0);
    throw error;
  });
  if (hash('sha256', bytes, 'hex') !== filter.sha256) {
    context.logger.warn(
      { key, bytes: bytes.length },
      'filter missing or damaged: run `packhouse audit --repair`',
    );
    return head;
  }
  head.writeUInt32BE(bytes.length, 48);
  return Buffer.concat([head, bytes]);
}
