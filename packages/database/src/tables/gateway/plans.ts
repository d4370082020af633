import { isDeepStrictEqual } from 'node:util';
import { PackhouseError } from '@packhouse/runtime';
import { type Connections, statement } from '../../connection/connections.js';

/** Limits of a key. Requests are counted in units: each counts as its cost. */
export interface Plan {
  name: string;
  /** Highest block that bundles and downloads may touch; null: all. */
  maxBlock: number | null;
  requestsPerSecond: number;
  /** Of a day in UTC; null: no limit. */
  requestsPerDay: number | null;
  /** Of a calendar month in UTC; null: no limit. */
  requestsPerMonth: number | null;
  /** Calls per second of single methods, whatever they cost. */
  methodsPerSecond: Readonly<Record<string, number>>;
  /** Most blocks of one eth_getLogs; null: no limit. */
  maxLogRange: number | null;
}

/** The columns of a Plan, from plan p. */
const PLAN = `p.name, p.max_block AS "maxBlock", p.requests_per_second AS "requestsPerSecond",
     p.requests_per_day AS "requestsPerDay", p.requests_per_month AS "requestsPerMonth",
     p.methods_per_second AS "methodsPerSecond", p.max_log_range AS "maxLogRange"`;

/** A Plan in one column, from plan p. */
export const PLAN_JSON = `(SELECT to_jsonb(limits) FROM (SELECT ${PLAN}) AS limits)`;

/** All plans, smallest first. */
const selectPlans = statement(
  'plans/select-plans',
  `SELECT ${PLAN}
   FROM packhouse.plan AS p
   ORDER BY p.position`,
);

/** $1 name. Listed behind all others. */
const insertPlan = statement(
  'plans/insert-plan',
  `INSERT INTO packhouse.plan (name, position, requests_per_second)
   SELECT $1, coalesce(max(position), 0) + 1, 25 FROM packhouse.plan
   ON CONFLICT (name) DO NOTHING`,
);

/** $1 name, $2 the plan as JSON. */
const updatePlan = statement(
  'plans/update-plan',
  `UPDATE packhouse.plan AS p
   SET max_block = given."maxBlock", requests_per_second = given."requestsPerSecond",
     requests_per_day = given."requestsPerDay", requests_per_month = given."requestsPerMonth",
     methods_per_second = given."methodsPerSecond", max_log_range = given."maxLogRange"
   FROM jsonb_to_record($2::jsonb) AS given ("maxBlock" int8, "requestsPerSecond" int4, "requestsPerDay" int8,
     "requestsPerMonth" int8, "methodsPerSecond" jsonb, "maxLogRange" int8)
   WHERE p.name = $1`,
);

/** $1 name. */
const lockPlan = statement(
  'plans/lock-plan',
  `SELECT ${PLAN} FROM packhouse.plan AS p WHERE p.name = $1 FOR UPDATE`,
);

/** The plans that keys are made with. */
export function createPlans(connections: Connections) {
  return {
    /** In the order they are listed in. */
    list: () => connections.query<Plan>(selectPlans, []),
    /**
     * Changes what is given of a plan; gateways use it within a second. With `make`, a missing plan is made first: 25
     * requests per second and no other limit. Returns null and changes nothing if it is not as `expected`. Throws
     * PLAN_UNKNOWN.
     */
    async set(
      name: string,
      change: Partial<Omit<Plan, 'name'>>,
      { make = false, expected }: { make?: boolean; expected?: Omit<Plan, 'name'> | undefined } = {},
    ): Promise<Plan | null> {
      if (make) await connections.query(insertPlan, [name]);
      return connections.transaction(async (session) => {
        const before = await session.queryOne<Plan>(lockPlan, [name]);
        if (before === null) throw await planUnknown(connections, name);
        if (expected !== undefined && !isDeepStrictEqual(before, { ...expected, name })) return null;
        const after = { ...before, ...change };
        await session.query(updatePlan, [name, JSON.stringify(after)]);
        return after;
      });
    },
  };
}

/** The error PLAN_UNKNOWN, which names the plans that there are. */
export async function planUnknown(connections: Connections, plan: string): Promise<PackhouseError> {
  const plans = await connections.query<{ name: string }>(selectPlans, []);
  return new PackhouseError({
    code: 'PLAN_UNKNOWN',
    message: `There is no plan "${plan}".`,
    hint: `Plans are ${plans.map(({ name }) => name).join(', ')}.`,
    data: { plan },
  });
}
