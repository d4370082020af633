import type { BlockRange, Kind } from '@packhouse/chain';
import { entryLine } from '@packhouse/manifest';
import { REQUESTS_AT_ONCE } from '@packhouse/runtime';
import { createInFlight } from '../../access/in-flight.js';
import { sentNotModified } from '../../http/file-headers.js';
import { resume } from '../../http/paced-pieces.js';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { blockNumber, keyedRoute, readKind, requireBundles } from '../common/keyed-route.js';
import {
  block,
  COMMON_REFUSALS,
  integer,
  keyParams,
  kindSchema,
  object,
  refusals,
  text,
} from '../common/schemas.js';
import { type ManifestLog, manifestCursor, rangePart, sequenceOfCursor, wholePart } from './manifest-part.js';

/** Entries in one answer: by default, and at most. An entry has about 1,100 bytes. */
const DEFAULT_LIMIT = 10_000;
const MAX_LIMIT = 100_000;
/** Fewer entries than this are not worth compressing. */
const FEW = 4;

const schema = {
  summary: 'Get the manifest: the signed log of published bundles of one kind',
  description:
    'JSON lines, one entry per published bundle, in order of publication; every plan includes all entries. The header packhouse-manifest-next is the cursor to continue with, now or later; a Link header with rel=next is present if there are more entries. With from or to, the answer is a part of the log: each entry is signed, but an omitted entry cannot be detected.',
  tags: ['bundles'],
  operationId: 'getManifest',
  params: keyParams,
  querystring: object(
    { kind: kindSchema },
    {
      optional: {
        from: block('First block of the range that entries overlap; default 0.'),
        to: block('Last block of the range that entries overlap; default: no limit.'),
        after: text('Entries after this one: a cursor or a sequence number; default: from the first.'),
        limit: integer(`Maximum entries of the answer (default ${DEFAULT_LIMIT}).`, {
          minimum: 1,
          maximum: MAX_LIMIT,
        }),
      },
    },
  ),
  response: {
    200: {
      description: 'The entries; empty if nothing was published since.',
      content: { 'application/x-ndjson': { schema: text() } },
    },
    304: { description: 'The client has this answer.', type: 'null' },
    ...refusals(
      ...COMMON_REFUSALS,
      'block-number-invalid',
      'cursor-invalid',
      'manifest-damaged',
      'parameter-invalid',
    ),
  },
};

/** `GET {base_url}<KEY>/bundle-api/manifest?kind=&from=&to=&after=&limit=` of one network. */
export function manifestRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const { manifest } = parts.database.network(network.id);
  const enter = createInFlight('parts of manifests');
  return keyedRoute(served, '/bundle-api/manifest', {
    name: 'manifest',
    schema,
    async answer(exchange) {
      const { query, request } = exchange;
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      const kind = readKind(network, readOne(query.kind, 'kind') ?? missingKind(network.bundles.kinds));
      exchange.kind = kind;
      const log = { network: network.id, kind };
      const after = sequenceOfCursor(readOne(query.after, 'after'), log);
      const limit = getLimit(readOne(query.limit, 'limit'));
      const range = toRange(readOne(query.from, 'from'), readOne(query.to, 'to'));

      const tip = await manifest.tip(kind);
      const newest = tip?.sequence ?? -1;
      if (after > newest) throw cursorBeyondEnd(log, after, newest);
      const pageRequest = { log, after, limit, newest: { sequence: newest, hash: tip?.hash } };
      const leave = range === null ? null : enter(key.id, REQUESTS_AT_ONCE.manifest);
      const part = await (range === null
        ? wholePart(manifest, pageRequest)
        : rangePart(manifest, pageRequest, range).finally(leave));
      const place = range === null ? '' : `-${range.firstBlock}-${range.lastBlock}`;
      const tag = `${part.hash?.slice(0, 32) ?? 'none'}${place}-${after + 1}-${after + part.entries}`;
      const caching = part.full ? 'immutable, max-age=31536000' : 'no-cache';
      exchange
        .header('cache-control', `private, ${caching}`)
        .header('packhouse-manifest-next', manifestCursor(log, part.last))
        .header('packhouse-manifest-entries', newest + 1);
      if (part.more) {
        const next = new URLSearchParams({
          kind,
          after: manifestCursor(log, part.last),
          limit: String(limit),
        });
        for (const name of ['from', 'to'] as const) if (query[name]) next.set(name, String(query[name]));
        exchange.header('link', `<manifest?${next}>; rel="next"`);
      }
      // Before the page is read.
      if (sentNotModified(exchange, tag, part.entries < FEW ? 0 : Number.POSITIVE_INFINITY)) return;
      exchange.header('content-type', 'application/x-ndjson');
      if (request.method === 'HEAD') {
        exchange.sendNothing();
        return;
      }
      const rest = part.lines();
      // The head is sent after the first page is read, so that a failing database is answered with a refusal.
      const first = await rest.next();
      exchange.sendStream(resume(first, rest));
    },
  });
}

function readOne(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new Problem('parameter-invalid', { detail: `The parameter ${name} is repeated.` });
}

/** Null: everything. */
function toRange(from: string | undefined, to: string | undefined): BlockRange | null {
  if (from === undefined && to === undefined) return null;
  const firstBlock = blockNumber(from ?? '0');
  const lastBlock = to === undefined ? Number.MAX_SAFE_INTEGER : blockNumber(to);
  if (firstBlock <= lastBlock) return { firstBlock, lastBlock };
  throw new Problem('parameter-invalid', {
    detail: `The range is reversed: to is ${lastBlock}, before from, ${firstBlock}.`,
  });
}

function missingKind(kinds: readonly Kind[]): never {
  throw new Problem('parameter-invalid', {
    detail: `Say which kind's manifest: ?kind= with one of ${kinds.join(', ')}.`,
    members: { kinds },
  });
}

function getLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new Problem('parameter-invalid', { detail: `limit must be an integer from 1 to ${MAX_LIMIT}.` });
}

function cursorBeyondEnd({ network, kind }: ManifestLog, after: number, newest: number): Problem {
  const end = newest < 0 ? 'has no entry yet' : `ends at entry ${newest}`;
  return new Problem('cursor-invalid', {
    detail: `The manifest of ${kind} of ${network} ${end}; entries after ${after} were requested.`,
    members: { newest, requested: after },
  });
}

const headSchema = {
  summary: 'Get the newest manifest entry of each kind',
  description:
    'JSON lines, one entry per kind. Each is signed and dated, and its sequence is the number of entries at that time. Keep it to detect a truncated manifest later. The header packhouse-manifest-blocks has the first and the last published block of each kind.',
  tags: ['bundles'],
  operationId: 'getManifestHead',
  params: keyParams,
  response: {
    200: {
      description: 'The newest entries; empty before anything is published.',
      content: { 'application/x-ndjson': { schema: text() } },
    },
    ...refusals(...COMMON_REFUSALS),
  },
};

/** `GET {base_url}<KEY>/bundle-api/manifest/head` of one network. */
export function manifestHeadRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const { manifest } = parts.database.network(network.id);
  return keyedRoute(served, '/bundle-api/manifest/head', {
    name: 'manifest-head',
    schema: headSchema,
    async answer(exchange) {
      await parts.admission.admit(exchange.param('key'), exchange);
      requireBundles(network);
      const heads = await Promise.all(
        network.bundles.kinds.map(async (kind) => {
          const tip = await manifest.tip(kind);
          const [newest] = tip === null ? [] : await manifest.entries(kind, tip.sequence - 1, 1);
          const extent = newest === undefined ? null : await manifest.extent(kind);
          if (newest === undefined || extent === null) return null;
          return {
            line: `${entryLine(newest)}\n`,
            blocks: `${kind}=${extent.firstBlock}-${extent.lastBlock}`,
          };
        }),
      );
      const published = heads.filter((head) => head !== null);
      exchange
        .header('cache-control', 'private, no-cache')
        .header('packhouse-manifest-blocks', published.map(({ blocks }) => blocks).join(', '))
        .sendText(published.map(({ line }) => line).join(''), 'application/x-ndjson');
    },
  });
}
