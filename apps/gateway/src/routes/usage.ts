import { formatDay, type UsageSum } from '@packhouse/database';
import type { WindowUse } from '../access/quotas.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { GatewayParts } from './gateway-parts.js';
import { keyParams, refusals } from './schemas.js';
import { GROUPS, MAX_DAYS, usageQuery } from './usage-query.js';

const figures = {
  requests: { type: 'integer', description: 'Calls of JSON-RPC, and requests of other routes.' },
  units: { type: 'integer', description: 'What they cost; refused ones cost nothing.' },
  errors: { type: 'integer', description: 'Those that were refused or failed.' },
  bytes: { type: 'integer', description: 'Bytes of bodies sent; those of a batch are under its own name.' },
} as const;

const limit = { type: ['integer', 'null'], description: 'Units; null: no limit.' } as const;
const window = {
  type: 'object',
  required: ['used', 'limit', 'left', 'resetsAt'],
  properties: {
    used: { type: 'integer', description: 'Units so far, by all gateways up to a second ago.' },
    limit,
    left: limit,
    resetsAt: { type: 'string', format: 'date-time' },
  },
} as const;

const schema = {
  summary: 'What this key used, and what is left of its plan',
  description:
    'Of all networks that the key is for. Days and months are those of UTC. It costs nothing of day and month, so it answers when they are used up.',
  tags: ['keys'],
  operationId: 'getUsage',
  params: keyParams,
  querystring: {
    type: 'object',
    properties: {
      since: {
        type: 'string',
        description: `First day, 2026-11-22, or so many days up to until, 7d (the default); ${MAX_DAYS} days at most.`,
      },
      until: { type: 'string', description: 'Last day; default: today.' },
      by: { type: 'string', enum: GROUPS, default: 'day', description: 'What the rows are sums of.' },
    },
  },
  response: {
    200: {
      description: 'The usage.',
      type: 'object',
      required: ['key', 'application', 'plan', 'left', 'since', 'until', 'by', 'rows', 'total'],
      properties: {
        key: { type: 'string', description: 'Its public prefix.' },
        application: { type: 'string' },
        plan: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            maxBlock: { type: ['integer', 'null'], description: 'Highest block of bundles; null: all.' },
            unitsPerSecond: { type: 'integer' },
            unitsPerDay: limit,
            unitsPerMonth: limit,
            callsPerSecond: {
              type: 'object',
              additionalProperties: { type: 'integer' },
              description: 'Calls a second of single methods.',
            },
          },
        },
        left: { type: 'object', properties: { day: window, month: window } },
        since: { type: 'string', format: 'date' },
        until: { type: 'string', format: 'date' },
        by: { type: 'string', enum: GROUPS },
        rows: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', ...Object.keys(figures)],
            properties: { name: { type: 'string', description: 'The day, method or network.' }, ...figures },
          },
        },
        total: { type: 'object', required: Object.keys(figures), properties: figures },
      },
    },
    ...refusals(
      ...(['request-malformed', 'query-invalid', 'unauthenticated', 'forbidden', 'network-unknown'] as const),
      ...(['method-not-allowed', 'rate-limited', 'internal', 'unavailable', 'draining'] as const),
    ),
  },
} as const;

const DAY_MS = 86_400_000;

/** `GET {base_url}<KEY>/usage?since=&until=&by=` of one network. */
export function usageRoute(parts: GatewayParts, { network, base }: ServedNetwork): Route {
  const { admission, database, quotas, context } = parts;
  return {
    method: 'GET',
    path: `${base.path}/:key/usage`,
    host: base.host,
    name: 'usage',
    network: network.id,
    schema,
    document: { path: '/{key}/usage', servedAt: 'baseUrl' },
    async answer(exchange) {
      const key = await admission.admit(exchange.param('key'), exchange, { quota: false });
      const now = context.clock.now();
      const { since, until, by } = usageQuery(exchange.query, now);
      const [rows, units] = await Promise.all([
        database.usage.sums({ keyIds: [key.id], since, until, by }),
        database.usage.units(key.id, Math.floor(now / DAY_MS)),
      ]);
      // A gateway that has just begun knows less than the database, any other one up to a second more.
      const { day, month } = quotas.used(key.id);
      const { plan } = key;
      exchange.header('cache-control', 'no-store').sendJson({
        ...{ key: key.prefix, application: key.application },
        plan: {
          ...{ name: plan.name, maxBlock: plan.maxBlock, unitsPerSecond: plan.requestsPerSecond },
          ...{ unitsPerDay: plan.requestsPerDay, unitsPerMonth: plan.requestsPerMonth },
          callsPerSecond: plan.methodsPerSecond,
        },
        left: {
          day: leftOf(plan.requestsPerDay, day, units.inDay),
          month: leftOf(plan.requestsPerMonth, month, units.inMonth),
        },
        ...{ since: formatDay(since), until: formatDay(until), by, rows, total: totalOf(rows) },
      });
    },
  };
}

function leftOf(limit: number | null, { used: known, endsAt }: WindowUse, stored: number): object {
  const used = Math.max(known, stored);
  const left = limit === null ? null : Math.max(0, limit - used);
  return { used, limit, left, resetsAt: new Date(endsAt).toISOString() };
}

function totalOf(rows: readonly UsageSum[]): Omit<UsageSum, 'name'> {
  const total = { requests: 0, units: 0, errors: 0, bytes: 0 };
  for (const row of rows) {
    total.requests += row.requests;
    total.units += row.units;
    total.errors += row.errors;
    total.bytes += row.bytes;
  }
  return total;
}
