import type { BlockRange, Kind } from '@packhouse/chain';
import { createInFlight } from '../access/in-flight.js';
import { blockNumber } from '../http/block-number.js';
import { noneMatchHits } from '../http/file-headers.js';
import { Problem } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { chosenKind } from './chosen-kind.js';
import type { GatewayParts } from './gateway-parts.js';
import { type ManifestLog, manifestCursor, sequenceOfCursor } from './manifest-cursor.js';
import { rangePart, wholePart } from './manifest-part.js';
import { COMMON_REFUSALS, keyParams, kindSchema, refusals } from './schemas.js';

/** Entries in one answer: by default, and at most. An entry has about 1,100 bytes. */
const DEFAULT_LIMIT = 10_000;
const MAX_LIMIT = 100_000;
/** Fewer entries than this are not worth compressing. */
const FEW = 4;
/** Parts of one key under way: to find 100,000 entries takes the database some 45 ms. */
const AT_ONCE = 4;

const schema = {
  summary: 'The signed log of published bundles of one kind',
  description:
    'JSON lines, one entry a published bundle, in the order of publication; every plan sees all of them. The header packhouse-manifest-next is the cursor to go on with, now or later; a Link header with rel=next is there while more entries are. With from or to it is a part of the log: its entries are signed each, but nothing in it tells that none was left out.',
  tags: ['bundles'],
  operationId: 'getManifest',
  params: keyParams,
  querystring: {
    type: 'object',
    required: ['kind'],
    properties: {
      kind: kindSchema,
      from: {
        ...{ type: 'integer', minimum: 0 },
        description: 'Only entries that touch the range; first block, default 0.',
      },
      to: {
        ...{ type: 'integer', minimum: 0 },
        description: 'Only entries that touch the range; last block, default: no end.',
      },
      after: {
        type: 'string',
        description: 'Entries behind this one: a cursor or a sequence number; absent: from the first.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_LIMIT,
        description: `Most entries of the answer (default ${DEFAULT_LIMIT}).`,
      },
    },
  },
  response: {
    200: {
      description: 'The entries; none where nothing was published since.',
      content: { 'application/x-ndjson': { schema: { type: 'string' } } },
    },
    304: { description: 'The client has this answer.', type: 'null' },
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'cursor-invalid', 'parameter-invalid'),
  },
} as const;

/** `GET {base_url}<KEY>/bundle-api/manifest?kind=&from=&to=&after=&limit=` of one network. */
export function manifestRoute(parts: GatewayParts, { network, base }: ServedNetwork): Route {
  const { manifest } = parts.database.network(network.id);
  const inFlight = createInFlight('parts of manifests');
  return {
    method: 'GET',
    path: `${base.path}/:key/bundle-api/manifest`,
    host: base.host,
    name: 'manifest',
    network: network.id,
    schema,
    document: { path: '/{key}/bundle-api/manifest', servedAt: 'baseUrl' },
    async answer(exchange) {
      const { query, request } = exchange;
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      const kind = chosenKind(network, one(query.kind, 'kind') ?? missingKind(network.bundles.kinds));
      exchange.kind = kind;
      const log = { network: network.id, kind };
      const after = sequenceOfCursor(one(query.after, 'after'), log);
      const limit = limitOf(one(query.limit, 'limit'));
      const range = rangeOf(one(query.from, 'from'), one(query.to, 'to'));

      const tip = await manifest.tip(kind);
      const newest = tip?.sequence ?? -1;
      if (after > newest) throw beyond(log, after, newest);
      const asked = { log, after, limit, newest: { sequence: newest, hash: tip?.hash } };
      const leave = range === null ? null : inFlight.enter(key.id, AT_ONCE);
      const part = await (range === null
        ? wholePart(manifest, asked)
        : rangePart(manifest, asked, range).finally(leave));
      // The tag is needed before the page is read.
      const coding = exchange.coding(part.entries < FEW ? 0 : Number.POSITIVE_INFINITY);
      const coded = coding === null ? '' : `-${coding}`;
      const place = range === null ? '' : `-${range.start}-${range.end}`;
      const tag = `"${part.hash?.slice(0, 32) ?? 'none'}${place}-${after + 1}-${after + part.entries}${coded}"`;
      const caching = part.full ? 'immutable, max-age=31536000' : 'no-cache';
      exchange
        .header('etag', tag)
        .header('cache-control', `private, ${caching}`)
        .header('packhouse-manifest-next', manifestCursor(log, part.last))
        .header('packhouse-manifest-entries', newest + 1);
      if (part.more) {
        const { from, to } = exchange.query;
        const next = new URLSearchParams({
          ...{ kind, after: manifestCursor(log, part.last), limit: String(limit) },
          ...(typeof from === 'string' ? { from } : {}),
          ...(typeof to === 'string' ? { to } : {}),
        });
        exchange.header('link', `<manifest?${next}>; rel="next"`);
      }
      const noneMatch = request.headers['if-none-match'];
      if (noneMatch !== undefined && noneMatchHits(noneMatch, tag)) {
        exchange.status(304).sendNothing();
        return;
      }
      exchange.header('content-type', 'application/x-ndjson');
      if (request.method === 'HEAD') {
        exchange.sendNothing();
        return;
      }
      const rest = part.lines();
      // The head is sent after the first page is read, so that a failing database is answered with a refusal.
      const first = await rest.next();
      exchange.sendStream(beginningWith(first, rest));
    },
  };
}

async function* beginningWith(
  first: IteratorResult<string>,
  rest: AsyncGenerator<string>,
): AsyncGenerator<string> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

function one(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new Problem('parameter-invalid', { detail: `The parameter ${name} is given more than once.` });
}

/** Null: everything. */
function rangeOf(from: string | undefined, to: string | undefined): BlockRange | null {
  if (from === undefined && to === undefined) return null;
  const start = blockNumber(from ?? '0');
  const end = to === undefined ? Number.MAX_SAFE_INTEGER : blockNumber(to);
  if (start <= end) return { start, end };
  throw new Problem('parameter-invalid', {
    detail: `The range is reversed: to is ${end} and lies before from, which is ${start}.`,
  });
}

function missingKind(kinds: readonly Kind[]): never {
  throw new Problem('parameter-invalid', {
    detail: `Say which kind's manifest: ?kind= with one of ${kinds.join(', ')}.`,
    members: { kinds },
  });
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new Problem('parameter-invalid', { detail: `limit takes a whole number from 1 to ${MAX_LIMIT}.` });
}

function beyond({ network, kind }: ManifestLog, after: number, newest: number): Problem {
  const end = newest < 0 ? 'has no entry yet' : `ends at entry ${newest}`;
  return new Problem('cursor-invalid', {
    detail: `The manifest of ${kind} of ${network} ${end}, and entries behind ${after} were asked for.`,
    members: { newest, requested: after },
  });
}
