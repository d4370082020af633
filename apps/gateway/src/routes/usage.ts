import {
  formatDay,
  parseDay,
  parseSince,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageSum,
} from '@packhouse/database';
import { toDay } from '@packhouse/runtime';
import type { WindowUse } from '../access/quotas.js';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { GatewayParts } from './common/gateway-parts.js';
import { keyedRoute, queryInvalid, readParameters } from './common/keyed-route.js';
import {
  described,
  integer,
  keyParams,
  list,
  nullable,
  object,
  partial,
  record,
  refusals,
  text,
} from './common/schemas.js';

const GROUPS = USAGE_GROUPS.filter((group) => group !== 'key');

/** Most days of an answer. */
const MAX_DAYS = 400;
const DEFAULT_DAYS = 7;

const figures = {
  requests: integer('JSON-RPC calls, and requests of other routes.'),
  units: integer('Their cost; refused calls cost nothing.'),
  errors: integer('Calls that were refused or failed.'),
  bytes: integer('Bytes of bodies sent; a batch is counted under its own name.'),
};

const limit = nullable(integer('Units; null: no limit.'));
const window = object({
  used: integer('Units used, over all gateways up to one second ago.'),
  limit,
  left: limit,
  resetsAt: text(undefined, { format: 'date-time' }),
});

const plan = {
  name: text(),
  maxBlock: nullable(integer('Highest block of bundles; null: all.')),
  unitsPerSecond: integer(),
  unitsPerDay: limit,
  unitsPerMonth: limit,
  callsPerSecond: record(integer(), 'Calls per second by method.'),
  maxLogRange: nullable(integer('Most blocks of one eth_getLogs; null: no limit.')),
};

const schema = {
  summary: 'Get the usage of a key and the rest of its plan',
  description:
    'Over all networks of the key. Days and months are in UTC. It costs no units of day and month, so it works when they are used up.',
  tags: ['keys'],
  operationId: 'getUsage',
  params: keyParams,
  querystring: partial({
    since: text(
      `First day, e.g. 2026-11-22, or a number of days up to until, e.g. 7d (the default); at most ${MAX_DAYS} days.`,
    ),
    until: text('Last day; default: today.'),
    by: text('How the rows are grouped.', { enum: GROUPS, default: 'day' }),
  }),
  response: {
    200: described('The usage.', {
      key: text('Public prefix of the key.'),
      application: text(),
      plan: partial(plan),
      left: partial({ day: window, month: window }),
      since: text(undefined, { format: 'date' }),
      until: text(undefined, { format: 'date' }),
      by: text(undefined, { enum: GROUPS }),
      rows: list(object({ name: text('The day, method or network.'), ...figures })),
      total: object(figures),
    }),
    ...refusals(
      ...(['request-malformed', 'query-invalid', 'unauthenticated', 'forbidden', 'network-unknown'] as const),
      ...(['method-not-allowed', 'rate-limited', 'internal', 'unavailable', 'draining'] as const),
    ),
  },
};

/** `GET {base_url}<KEY>/usage?since=&until=&by=` of one network. */
export function usageRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { admission, database, quotas, context } = parts;
  return keyedRoute(served, '/usage', {
    name: 'usage',
    schema,
    async answer(exchange) {
      const key = await admission.admit(exchange.param('key'), exchange, { quota: false });
      const now = context.clock.now();
      const { since, until, by } = readUsageQuery(exchange.query, now);
      const [rows, units] = await Promise.all([
        database.usage.sums({ keyIds: [key.id], since, until, by }),
        database.usage.units(key.id, toDay(now)),
      ]);
      // A gateway that has just begun knows less than the database, any other one up to a second more.
      const { day, month } = quotas.used(key.id, now);
      const { plan } = key;
      exchange.header('cache-control', 'no-store').sendJson({
        key: key.prefix,
        application: key.application,
        plan: {
          name: plan.name,
          maxBlock: plan.maxBlock,
          unitsPerSecond: plan.requestsPerSecond,
          unitsPerDay: plan.requestsPerDay,
          unitsPerMonth: plan.requestsPerMonth,
          callsPerSecond: plan.methodsPerSecond,
          maxLogRange: plan.maxLogRange,
        },
        left: {
          day: buildWindowUse(plan.requestsPerDay, day, units.inDay),
          month: buildWindowUse(plan.requestsPerMonth, month, units.inMonth),
        },
        since: formatDay(since),
        until: formatDay(until),
        by,
        rows,
        total: getTotal(rows),
      });
    },
  });
}

/** What a key asks about its usage; days are days since 1970-01-01 in UTC. */
interface UsageQuery {
  since: number;
  until: number;
  by: Exclude<UsageGroup, 'key'>;
}

/** Reads the query of a usage request at the time `now`. Throws the problem `query-invalid`. */
function readUsageQuery(query: Exchange['query'], now: number): UsageQuery {
  const given = readParameters(query, ['since', 'until', 'by']);
  const until = given.until === undefined ? toDay(now) : parseDay(given.until);
  if (until === null) throw queryInvalid('until', 'must be a date such as 2026-11-22');
  const since = given.since === undefined ? until - DEFAULT_DAYS + 1 : parseSince(given.since, until);
  if (since === null) {
    throw queryInvalid('since', `must be a date such as 2026-11-22, or days such as 7d, ${MAX_DAYS} at most`);
  }
  if (since > until) throw queryInvalid('since', 'is after "until"');
  if (until - since >= MAX_DAYS) throw queryInvalid('since', `spans more than ${MAX_DAYS} days`);
  const by = GROUPS.find((group) => group === (given.by ?? 'day'));
  if (by === undefined) throw queryInvalid('by', `must be one of ${GROUPS.join(', ')}`);
  return { since, until, by };
}

function buildWindowUse(limit: number | null, { used: known, endsAt }: WindowUse, stored: number): object {
  const used = Math.max(known, stored);
  const left = limit === null ? null : Math.max(0, limit - used);
  return { used, limit, left, resetsAt: new Date(endsAt).toISOString() };
}

function getTotal(rows: readonly UsageSum[]): Omit<UsageSum, 'name'> {
  const total = { requests: 0, units: 0, errors: 0, bytes: 0 };
  for (const row of rows) {
    total.requests += row.requests;
    total.units += row.units;
    total.errors += row.errors;
    total.bytes += row.bytes;
  }
  return total;
}
