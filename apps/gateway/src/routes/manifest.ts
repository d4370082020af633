import type { Kind } from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import { entryLine } from '@packhouse/manifest';
import { noneMatchHits } from '../http/file-headers.js';
import { Problem } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { chosenKind } from './chosen-kind.js';
import type { GatewayParts } from './gateway-parts.js';
import { type ManifestLog, manifestCursor, sequenceOfCursor } from './manifest-cursor.js';
import { COMMON_REFUSALS, kindSchema, refusals } from './schemas.js';

/** Entries in one answer: by default, and at most. An entry has about 1,100 bytes. */
const DEFAULT_LIMIT = 10_000;
const MAX_LIMIT = 100_000;
/** Entries read from the database at a time. */
const PAGE = 500;
/** Fewer entries than this are not worth compressing. */
const FEW = 4;

const schema = {
  summary: 'The signed log of published bundles of one kind',
  description:
    'JSON lines, one entry a published bundle, in the order of publication; every plan sees all of them. The header packhouse-manifest-next is the cursor to go on with, now or later; a Link header with rel=next is there while more entries are.',
  tags: ['bundles'],
  operationId: 'getManifest',
  params: {
    type: 'object',
    required: ['key'],
    properties: { key: { type: 'string', description: 'API key.' } },
  },
  querystring: {
    type: 'object',
    required: ['kind'],
    properties: {
      kind: kindSchema,
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
    ...refusals(...COMMON_REFUSALS, 'cursor-invalid', 'parameter-invalid'),
  },
} as const;

/** `GET {base_url}<KEY>/bundle-api/manifest?kind=&after=&limit=` of one network. */
export function manifestRoute(parts: GatewayParts, { network, base }: ServedNetwork): Route {
  const { manifest } = parts.database.network(network.id);
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
      await parts.admission.admit(exchange.param('key'), exchange);
      const kind = chosenKind(network, one(query.kind, 'kind') ?? missingKind(network.bundles.kinds));
      exchange.kind = kind;
      const log = { network: network.id, kind };
      const after = sequenceOfCursor(one(query.after, 'after'), log);
      const limit = limitOf(one(query.limit, 'limit'));

      const tip = await manifest.tip(kind);
      const newest = tip?.sequence ?? -1;
      if (after > newest) throw beyond(log, after, newest);
      const last = Math.min(after + limit, newest);
      // Entries are chained by hash, so the hash of the last one identifies all before it.
      const hash = last === newest ? tip?.hash : (await manifest.entries(kind, last - 1, 1))[0]?.hash;
      // The tag is needed before the page is read.
      const coding = exchange.coding(last - after < FEW ? 0 : Number.POSITIVE_INFINITY);
      const coded = coding === null ? '' : `-${coding}`;
      const tag = `"${hash?.slice(0, 32) ?? 'none'}-${after + 1}-${last}${coded}"`;
      const caching = last - after === limit ? 'immutable, max-age=31536000' : 'no-cache';
      exchange
        .header('etag', tag)
        .header('cache-control', `private, ${caching}`)
        .header('packhouse-manifest-next', manifestCursor(log, last))
        .header('packhouse-manifest-entries', newest + 1);
      if (last < newest) {
        const next = new URLSearchParams({ kind, after: manifestCursor(log, last), limit: String(limit) });
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
      const rest = lines(manifest, log, after, last);
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

/** The lines of the entries after `after` up to `last`; a page is read when the one before is consumed. */
async function* lines(
  manifest: NetworkDatabase['manifest'],
  { network, kind }: ManifestLog,
  after: number,
  last: number,
): AsyncGenerator<string> {
  for (let at = after; at < last; ) {
    const entries = await manifest.entries(kind, at, Math.min(PAGE, last - at));
    const end = entries.at(-1);
    // The log has no gaps. Throwing breaks the connection, so that the client does not take this for the end.
    if (end === undefined)
      throw new Error(`the manifest of ${kind} of ${network} ends at ${at} before ${last}`);
    yield entries.map((entry) => `${entryLine(entry)}\n`).join('');
    at = end.sequence;
  }
}

function one(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new Problem('parameter-invalid', { detail: `The parameter ${name} is given more than once.` });
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
