import type { BlockRange } from '@packhouse/chain';
import { HOLE_REASONS } from '@packhouse/database';
import { type CoveragePage, coverage, holeNeeds } from '@packhouse/pipeline';
import { isPackhouseError } from '@packhouse/runtime';
import { createInFlight } from '../access/in-flight.js';
import { Problem } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { coverageQuery, DEFAULT_LIMIT, MAX_LIMIT } from './coverage-query.js';
import type { GatewayParts } from './gateway-parts.js';
import { cursorInvalid } from './range-query.js';
import { COMMON_REFUSALS, keyParams, kindSchema, refusals } from './schemas.js';

const block = { type: ['integer', 'null'] } as const;
const range = { type: 'string', description: '<start>-<end>, inclusive.' } as const;
const blocks = { type: 'integer', description: 'How many blocks.' } as const;

const hole = {
  type: 'object',
  required: ['range', 'blocks', 'reason', 'staged', 'needs'],
  properties: {
    range,
    blocks,
    reason: { type: 'string', enum: HOLE_REASONS, description: 'Why these blocks are not published.' },
    staged: { type: 'boolean', description: 'Whether each of them answers as a file of its own already.' },
    needs: { type: 'string', description: 'What has to happen, as a clause about the hole.' },
    cause: { type: 'string', description: 'Of quarantined blocks: error code.' },
    attempts: { type: 'integer', description: 'Of quarantined blocks: tries so far, the most of any.' },
    nextTry: { type: 'string', format: 'date-time', description: 'Of quarantined blocks: the earliest.' },
  },
} as const;

const kindCoverage = {
  type: 'object',
  required: ['kind', 'completeTo', 'counts', 'published', 'holes'],
  properties: {
    kind: kindSchema,
    completeTo: {
      ...block,
      description: "Published from the network's first wanted block up to here without a hole.",
    },
    counts: {
      type: ['object', 'null'],
      description:
        'Blocks of the whole range, not of this page alone; null where there is a cursor, and where more than 10,000 separate ranges were ordered.',
      required: ['published', 'missing'],
      properties: {
        published: blocks,
        missing: {
          type: 'object',
          description: 'By reason; reasons of no block are left out.',
          additionalProperties: blocks,
        },
      },
    },
    published: { type: 'array', items: range, description: 'Published ranges of the page, ascending.' },
    holes: { type: 'array', items: hole, description: 'The rest of the page, ascending.' },
  },
} as const;

const schema = {
  summary: 'What is published, what is not, and why',
  description:
    'Published ranges and holes partition the page, in every kind. What reaches beyond a page is cut at its end and goes on with the next one. Answers are at most a second old.',
  tags: ['bundles'],
  operationId: 'getCoverage',
  params: keyParams,
  querystring: {
    type: 'object',
    properties: {
      kind: { ...kindSchema, description: 'Only this kind; default: all that the network has.' },
      from: { type: 'integer', minimum: 0, description: 'First block; default 0.' },
      to: {
        type: 'integer',
        minimum: 0,
        description: 'Last block; default: the head, or the highest block that the plan includes.',
      },
      limit: {
        ...{ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
        description: 'Holes of a kind on a page, at most.',
      },
      cursor: { type: 'string', description: 'The `next` of the page before.' },
    },
  },
  response: {
    200: {
      description: 'A page.',
      type: 'object',
      required: [
        ...['network', 'head', 'finalized', 'completeTo'],
        ...['range', 'page', 'next', 'queueSeen', 'kinds'],
      ],
      properties: {
        network: { type: 'string' },
        head: { ...block, description: 'The newest block; null: none was seen yet.' },
        finalized: { ...block, description: 'The newest final block; -1: none is final.' },
        completeTo: {
          ...block,
          description:
            'Every block from the first wanted one up to here is published in every wanted kind; null: not even that one.',
        },
        range: { ...range, description: 'What was asked for.' },
        page: { ...range, description: 'What this page tells everything about.' },
        next: {
          type: ['string', 'null'],
          description: 'The cursor of the next page; null: this is the last.',
        },
        queueSeen: {
          type: 'boolean',
          description:
            'Without the queue `queued` and `fetching` read `waiting`, and `packing` reads `staged`.',
        },
        kinds: { type: 'array', items: kindCoverage },
      },
    },
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'query-invalid'),
  },
} as const;

/** Pages of one key under way: each takes one of the few turns at the database. */
const AT_ONCE = 2;

/** `GET {base_url}<KEY>/bundle-api/coverage` of one network. */
export function coverageRoute(parts: GatewayParts, { network, base }: ServedNetwork): Route {
  const inFlight = createInFlight('pages of coverage');
  return {
    method: 'GET',
    path: `${base.path}/:key/bundle-api/coverage`,
    host: base.host,
    name: 'coverage',
    network: network.id,
    schema,
    document: { path: '/{key}/bundle-api/coverage', servedAt: 'baseUrl' },
    async answer(exchange) {
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      if (!network.bundles.enabled) {
        throw new Problem('network-without-bundles', {
          detail: `The network ${network.id} has no bundles.`,
        });
      }
      const asked = coverageQuery(exchange.query, network, key.plan);
      const leave = inFlight.enter(key.id, AT_ONCE);
      const page = await coverage(parts.coverage, asked)
        .catch((error: unknown) => {
          throw isPackhouseError(error, 'RANGE_INVALID') ? cursorInvalid() : error;
        })
        .finally(leave);
      exchange.header('cache-control', 'no-store').sendJson(bodyOf(page));
    },
  };
}

function bodyOf(page: CoveragePage): object {
  const { network, head, finalized, completeTo, queueSeen } = page;
  return {
    ...{ network, head, finalized, completeTo },
    range: written({ start: page.from, end: page.to }),
    page: written(page.range),
    next: page.next === null ? null : String(page.next),
    queueSeen,
    kinds: page.kinds.map((kind) => ({
      ...{ kind: kind.kind, completeTo: kind.completeTo, counts: kind.counts },
      published: kind.published.map(written),
      holes: kind.holes.map((each) => ({
        range: written(each),
        blocks: each.end - each.start + 1,
        reason: each.reason,
        staged: each.staged,
        needs: holeNeeds(each),
        ...(each.quarantine === null
          ? {}
          : { ...each.quarantine, nextTry: each.quarantine.nextTry.toISOString() }),
      })),
    })),
  };
}

function written({ start, end }: BlockRange): string {
  return `${start}-${end}`;
}
