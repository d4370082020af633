import { createHash } from 'node:crypto';
import type { PublishedFile } from '@packhouse/database';
import { createInFlight } from '../access/in-flight.js';
import { JSON_TYPE } from '../http/exchange.js';
import { noneMatchHits } from '../http/file-headers.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { queriedKind } from './chosen-kind.js';
import type { GatewayParts } from './gateway-parts.js';
import { rangeParameters, rangeQuery } from './range-query.js';
import { COMMON_REFUSALS, keyParams, refusals } from './schemas.js';

/** Files on a page: by default, and at most. A file has some 200 bytes. */
const LIMITS = { usual: 1_000, most: 10_000 };

const block = { type: 'integer', minimum: 0 } as const;

const schema = {
  summary: 'The published files of a range of blocks',
  description:
    'Ascending; a file that only touches the range is listed whole. What is between them is not published: coverage says why. Blocks that are staged only have no file here, and neither have those of a file that reaches beyond the plan: their pointers answer.',
  tags: ['bundles'],
  operationId: 'listFiles',
  params: keyParams,
  querystring: rangeParameters(LIMITS, 'The `next` of the page before.'),
  response: {
    200: {
      description: 'A page. Its ETag changes only if one of its files does, or where it ends.',
      type: 'object',
      required: ['files', 'next'],
      properties: {
        files: {
          type: 'array',
          items: {
            type: 'object',
            required: ['start', 'end', 'bytes', 'sha256', 'version', 'link'],
            properties: {
              start: { ...block, description: 'First block.' },
              end: { ...block, description: 'Last block.' },
              bytes: { type: 'integer', description: 'Of the file.' },
              sha256: { type: 'string', description: 'Of the file, hex: its ETag.' },
              version: { type: 'integer', description: '1, or more where the file was repaired.' },
              link: {
                type: 'string',
                description: 'Address of the file; GET it with Authorization: Bearer <API key>.',
              },
            },
          },
        },
        next: {
          type: ['string', 'null'],
          description: 'The cursor of the next page; null: this is the last.',
        },
        limited: {
          type: 'object',
          description: 'Only if the plan ends before the range does.',
          required: ['maxBlock'],
          properties: { maxBlock: { ...block, description: 'Highest block that the plan includes.' } },
        },
      },
    },
    304: { description: 'The client has this page.', type: 'null' },
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'query-invalid'),
  },
} as const;

/** Lists of one key under way: a page of 10,000 takes a connection to the database for milliseconds. */
const AT_ONCE = 4;

/** `GET {base_url}<KEY>/bundle-api/files?kind=&from=&to=&cursor=&limit=` of one network. */
export function fileListRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network, base } = served;
  const { bundles } = parts.database.network(network.id);
  const inFlight = createInFlight('lists of files');
  return {
    method: 'GET',
    path: `${base.path}/:key/bundle-api/files`,
    host: base.host,
    name: 'files',
    network: network.id,
    schema,
    document: { path: '/{key}/bundle-api/files', servedAt: 'baseUrl' },
    async answer(exchange) {
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      const asked = rangeQuery(exchange.query, LIMITS);
      const kind = queriedKind(network, asked.kind, 'files');
      exchange.kind = kind;
      const last = asked.to ?? Number.MAX_SAFE_INTEGER;
      const maxBlock = key.plan.maxBlock ?? last;
      const range = { start: asked.cursor ?? asked.from ?? 0, end: Math.min(last, maxBlock) };
      const leave = inFlight.enter(key.id, AT_ONCE);
      // One more than the page has, which tells whether there is a next one.
      const found = await bundles.files(kind, range, asked.limit + 1).finally(leave);
      // A download of a file that reaches beyond the plan is refused.
      const allowed = found.filter(({ end }) => end <= (key.plan.maxBlock ?? end));
      const body = JSON.stringify({
        files: allowed.slice(0, asked.limit).map((file) => listed(file, `${served.downloadUrl}/${kind}`)),
        next: allowed[asked.limit]?.start.toString() ?? null,
        ...(maxBlock < last ? { limited: { maxBlock } } : {}),
      });

      const coding = exchange.coding(Buffer.byteLength(body));
      const hash = createHash('sha256').update(body).digest('hex').slice(0, 32);
      const tag = `"${hash}${coding === null ? '' : `-${coding}`}"`;
      exchange.header('etag', tag).header('cache-control', 'private, no-cache');
      const noneMatch = exchange.request.headers['if-none-match'];
      if (noneMatch !== undefined && noneMatchHits(noneMatch, tag)) exchange.status(304).sendNothing();
      else exchange.sendText(body, JSON_TYPE);
    },
  };
}

function listed({ start, end, byteLength, sha256, version }: PublishedFile, folder: string): object {
  return { start, end, bytes: byteLength, sha256, version, link: `${folder}/${start}-${end}.json.gz` };
}
