import { createHash, hash } from 'node:crypto';
import { filterKey } from '@packhouse/bundle';
import type { FilteredFile } from '@packhouse/database';
import { isPackhouseError } from '@packhouse/runtime';
import pLimit from 'p-limit';
import { createInFlight } from '../access/in-flight.js';
import { type BoundedStore, createBoundedStore } from '../files/bounded-store.js';
import { noneMatchHits } from '../http/file-headers.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { queriedKind } from './chosen-kind.js';
import type { GatewayParts } from './gateway-parts.js';
import { rangeParameters, rangeQuery } from './range-query.js';
import { COMMON_REFUSALS, keyParams, refusals } from './schemas.js';

/** Files on a page: by default, and at most. A filter has some 10 KB. */
const LIMITS = { usual: 200, most: 1_000 };
/** Bytes of the filters on a page at most, unless one has more. */
const PAGE_BYTES = 2_097_152;
/** Pages of one key under way. */
const AT_ONCE = 4;
/** Objects of one page that are read at a time. */
const READS = 16;
const HEAD_BYTES = 52;

const schema = {
  summary: 'The filters of the published files of a range of blocks',
  description:
    'What each file can hold: see docs/formats.md. For each published file that touches the range, ascending: first and last block (8 bytes each, big-endian), the SHA-256 of the file (32), the length of its filter (4), and the filter. A file with the length 0 has no filter: it can hold anything.',
  tags: ['bundles'],
  operationId: 'listFilters',
  params: keyParams,
  querystring: rangeParameters(LIMITS, 'The header packhouse-filters-next of the page before.'),
  response: {
    200: {
      description:
        'A page; the header packhouse-filters-next is the cursor of the next one, absent on the last.',
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    },
    304: { description: 'The client has this page.', type: 'null' },
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'query-invalid'),
  },
} as const;

/** `GET {base_url}<KEY>/bundle-api/filters?kind=&from=&to=&cursor=&limit=` of one network. */
export function filtersRoute(parts: GatewayParts, { network, base }: ServedNetwork): Route {
  const { bundleFilters } = parts.database.network(network.id);
  const store = createBoundedStore(parts.objectStore);
  const inFlight = createInFlight('pages of filters');
  return {
    method: 'GET',
    path: `${base.path}/:key/bundle-api/filters`,
    host: base.host,
    name: 'filters',
    network: network.id,
    schema,
    document: { path: '/{key}/bundle-api/filters', servedAt: 'baseUrl' },
    async answer(exchange) {
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      const asked = rangeQuery(exchange.query, LIMITS);
      const kind = queriedKind(network, asked.kind, 'filters');
      exchange.kind = kind;
      const maxBlock = key.plan.maxBlock ?? Number.MAX_SAFE_INTEGER;
      const range = {
        start: asked.cursor ?? asked.from ?? 0,
        end: Math.min(asked.to ?? Number.MAX_SAFE_INTEGER, maxBlock),
      };
      // A page is held until it was taken.
      const leave = inFlight.enter(key.id, AT_ONCE);
      exchange.response.once('close', leave);
      if (exchange.response.closed) leave();
      const found = await bundleFilters.of(kind, range, asked.limit + 1);
      const allowed = found.filter(({ end }) => end <= maxBlock);
      const page = fitting(allowed.slice(0, asked.limit));
      const next = allowed[page.length];
      const coding = exchange.coding(Number.POSITIVE_INFINITY);
      const tag = `"${tagOf(page, next)}${coding === null ? '' : `-${coding}`}"`;
      // A file in the middle may get its first filter later, or another version; a client compares the file's hash.
      const final = next !== undefined && page.every(({ filter }) => filter !== null);
      exchange
        .header('etag', tag)
        .header('cache-control', `private, ${final ? 'immutable, max-age=31536000' : 'no-cache'}`);
      if (next !== undefined) exchange.header('packhouse-filters-next', next.start);
      const noneMatch = exchange.request.headers['if-none-match'];
      if (noneMatch !== undefined && noneMatchHits(noneMatch, tag)) {
        exchange.status(304).sendNothing();
        return;
      }
      exchange.header('content-type', 'application/octet-stream');
      if (exchange.request.method === 'HEAD') {
        exchange.sendNothing();
        return;
      }
      const turns = pLimit(READS);
      const frames = await Promise.all(page.map((file) => turns(() => frameOf(parts, store, file))));
      // A filter that could not be read now may be there later.
      if (frames.some((frame, n) => frame.length === HEAD_BYTES && page[n]?.filter !== null)) {
        exchange.header('cache-control', 'no-store').removeHeader('etag');
      }
      exchange.sendBuffer(Buffer.concat(frames));
    },
  };
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

function tagOf(page: readonly FilteredFile[], next: FilteredFile | undefined): string {
  const digest = createHash('sha256');
  for (const { start, end, sha256, filter } of page)
    digest.update(`${start}-${end} ${sha256} ${filter?.sha256}\n`);
  return digest.update(String(next?.start)).digest('hex').slice(0, 32);
}

/** A file without a filter if its filter is missing or damaged: then it is loaded, which is never wrong. */
async function frameOf(
  { context }: Pick<GatewayParts, 'context'>,
  store: BoundedStore,
  { start, end, sha256, objectKey, filter }: FilteredFile,
): Promise<Buffer> {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeBigUInt64BE(BigInt(start), 0);
  head.writeBigUInt64BE(BigInt(end), 8);
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
      'a filter is missing or damaged: run `packhouse audit --repair`',
    );
    return head;
  }
  head.writeUInt32BE(bytes.length, 48);
  return Buffer.concat([head, bytes]);
}
