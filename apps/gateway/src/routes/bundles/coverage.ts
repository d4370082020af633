import type { BlockRange } from '@packhouse/chain';
import { HOLE_REASONS, type Plan } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { type CoveragePage, type CoverageRequest, coverage, holeNeeds } from '@packhouse/report';
import { isPackhouseError, REQUESTS_AT_ONCE } from '@packhouse/runtime';
import { requireWithinPlan } from '../../access/admission.js';
import { createInFlight } from '../../access/in-flight.js';
import type { Exchange } from '../../http/exchange.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import { describeQuarantine } from '../../pointers/find-pointer.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { keyedRoute, readKind, requireBundles } from '../common/keyed-route.js';
import {
  block,
  COMMON_REFUSALS,
  described,
  flag,
  integer,
  keyParams,
  kindSchema,
  list,
  nullable,
  object,
  partial,
  record,
  refusals,
  text,
} from '../common/schemas.js';
import { cursorInvalid, limitParameter, readRangeQuery } from './range-query.js';

/** Holes of each kind on a page: by default, and at most. */
const LIMITS = { usual: 500, most: 5_000 };

const range = (description?: string) => text(description ?? '<start>-<end>, inclusive.');
const known = (description: string) => nullable(integer(description));
const blocks = (description = 'Number of blocks.') => integer(description);

const hole = object(
  {
    range: range(),
    blocks: blocks(),
    reason: text('Why these blocks are not published.', { enum: HOLE_REASONS }),
    staged: flag('Whether each block is already served as its own file.'),
    needs: text('What has to happen before they are published.'),
  },
  {
    optional: {
      cause: text('Error code, if the blocks are quarantined.'),
      attempts: integer('Attempts so far, if the blocks are quarantined; the highest of any block.'),
      firstSeen: text('Since when, if the blocks are quarantined.', { format: 'date-time' }),
      nextTry: text('The earliest retry, if the blocks are quarantined.', { format: 'date-time' }),
    },
  },
);

const counts = described(
  'Blocks of the whole range, not only of this page. null with a cursor, or if more than 10,000 separate ranges are requested.',
  {
    published: blocks(),
    missing: record(blocks(), 'Blocks by reason; reasons without blocks are omitted.'),
  },
);

const kindCoverage = object({
  kind: kindSchema,
  completeThrough: known("Published without a hole from the network's first requested block to this block."),
  counts: nullable(counts),
  published: list(range(), 'Published ranges of the page, in ascending order.'),
  holes: list(hole, 'Ranges of the page that are not published, in ascending order.'),
});

const schema = {
  summary: 'List published and missing ranges',
  description:
    'Published ranges and holes partition the page for every kind. A range that continues after the page is cut at its end. Answers are at most one second old.',
  tags: ['bundles'],
  operationId: 'getCoverage',
  params: keyParams,
  querystring: partial({
    kind: { ...kindSchema, description: 'Only this kind; default: all kinds of the network.' },
    from: block('First block; default 0.'),
    to: block('Last block; default: the head, or the highest block that the plan includes.'),
    limit: limitParameter(LIMITS, 'Maximum holes per kind on a page.'),
    cursor: text('The `next` of the previous page.'),
  }),
  response: {
    200: described('A page.', {
      network: text(),
      head: known('The newest block; null: none seen yet.'),
      finalized: known('The newest final block; -1: none is final.'),
      completeThrough: known(
        'Every requested block up to this one is published in every requested kind; null: none.',
      ),
      range: range('The requested range.'),
      page: range('The range that this page covers.'),
      next: nullable(text('The cursor of the next page; null: this is the last.')),
      queueSeen: flag(
        'Whether the queue could be read. If not, `queued` and `fetching` are reported as `waiting`, and `packing` as `staged`.',
      ),
      kinds: list(kindCoverage),
    }),
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'query-invalid'),
  },
};

/** `GET {base_url}<KEY>/bundle-api/coverage` of one network. */
export function coverageRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const enter = createInFlight('pages of coverage');
  return keyedRoute(served, '/bundle-api/coverage', {
    name: 'coverage',
    schema,
    async answer(exchange) {
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      requireBundles(network);
      const request = readCoverageQuery(exchange.query, network, key.plan);
      const leave = enter(key.id, REQUESTS_AT_ONCE.coverage);
      const page = await coverage(parts.coverage, request)
        .catch((error: unknown) => {
          throw isPackhouseError(error, 'RANGE_INVALID') ? cursorInvalid() : error;
        })
        .finally(leave);
      exchange.header('cache-control', 'no-store').sendJson(toBody(page));
    },
  });
}

/**
 * Reads the query of a coverage request. Throws what `readRangeQuery` and `readKind` throw, and `plan-limit` if `from`
 * or `to` is above the last block of the plan. The default of `to` is at most that block.
 */
function readCoverageQuery(query: Exchange['query'], network: Network, plan: Plan): CoverageRequest {
  const { kind, from, to, limit, cursor } = readRangeQuery(query, LIMITS);
  const kinds = kind === undefined ? network.bundles.kinds : [readKind(network, kind)];
  for (const number of [from, to]) if (number !== undefined) requireWithinPlan(plan, number);
  return { network: network.id, kinds, from, to, maxBlock: plan.maxBlock, limit, start: cursor };
}

function toBody(page: CoveragePage): object {
  const { network, head, finalized, completeThrough, queueSeen } = page;
  return {
    network,
    head,
    finalized,
    completeThrough,
    range: written({ firstBlock: page.from, lastBlock: page.to }),
    page: written(page.range),
    next: page.next === null ? null : String(page.next),
    queueSeen,
    kinds: page.kinds.map((kind) => ({
      kind: kind.kind,
      completeThrough: kind.completeThrough,
      counts: kind.counts,
      published: kind.published.map(written),
      holes: kind.holes.map((each) => ({
        range: written(each),
        blocks: each.lastBlock - each.firstBlock + 1,
        reason: each.reason,
        staged: each.staged,
        needs: holeNeeds(each),
        ...describeQuarantine(each),
      })),
    })),
  };
}

function written({ firstBlock, lastBlock }: BlockRange): string {
  return `${firstBlock}-${lastBlock}`;
}
