import { isDeepStrictEqual } from 'node:util';
import { PackhouseError } from '@packhouse/runtime';
import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';
import type { Plan } from '../contract/rows.js';

/** Columns of StoredLimits, from plan p. */
export const PLAN_LIMITS =
  'p.max_block, p.requests_per_second, p.requests_per_day, p.requests_per_month, p.methods_per_second';

export interface StoredLimits {
  max_block: number | null;
  requests_per_second: number;
  requests_per_day: number | null;
  requests_per_month: number | null;
  methods_per_second: Record<string, number>;
}

/** All plans, smallest first. */
const selectPlans = statement(
  'plans/select-plans',
  `SELECT p.name, ${PLAN_LIMITS}
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

/** $1 name, $2 the columns that change, $3 values as JSON by column. */
const updatePlan = statement(
  'plans/update-plan',
  `UPDATE packhouse.plan AS p
   SET max_block = CASE WHEN 'max_block' = ANY ($2::text[]) THEN given.max_block ELSE p.max_block END,
     requests_per_second = coalesce(given.requests_per_second, p.requests_per_second),
     requests_per_day =
       CASE WHEN 'requests_per_day' = ANY ($2::text[]) THEN given.requests_per_day ELSE p.requests_per_day END,
     requests_per_month =
       CASE WHEN 'requests_per_month' = ANY ($2::text[]) THEN given.requests_per_month ELSE p.requests_per_month END,
     methods_per_second = coalesce(given.methods_per_second, p.methods_per_second)
   FROM jsonb_to_record($3::jsonb) AS given (max_block int8, requests_per_second int4, requests_per_day int8,
     requests_per_month int8, methods_per_second jsonb)
   WHERE p.name = $1
   RETURNING p.name, ${PLAN_LIMITS}`,
);

/** $1 name. */
const lockPlan = statement(
  'plans/lock-plan',
  `SELECT p.name, ${PLAN_LIMITS} FROM packhouse.plan AS p WHERE p.name = $1 FOR UPDATE`,
);

/** The plans that keys are made with. */
export function createPlans(connections: Connections): Database['plans'] {
  return {
    list: async () => {
      const rows = await connections.query<StoredLimits & { name: string }>(selectPlans, []);
      return rows.map((row) => planOf(row.name, row));
    },
    set: async (name, change, { make = false, expected } = {}) => {
      if (make) await connections.query(insertPlan, [name]);
      const values = Object.entries(change).map(([field, value]) => [
        COLUMNS[field as keyof typeof COLUMNS],
        value,
      ]);
      return connections.transaction(async (session) => {
        const [before] = await session.query<StoredLimits & { name: string }>(lockPlan, [name]);
        if (before === undefined) throw await planUnknown(connections, name);
        const same = expected === undefined || isDeepStrictEqual(planOf(name, before), { ...expected, name });
        if (!same) return null;
        const [after = before] = await session.query<StoredLimits & { name: string }>(updatePlan, [
          ...[name, values.map(([column]) => column)],
          JSON.stringify(Object.fromEntries(values)),
        ]);
        return planOf(name, after);
      });
    },
  };
}

const COLUMNS: Readonly<Record<keyof Omit<Plan, 'name'>, string>> = {
  maxBlock: 'max_block',
  requestsPerSecond: 'requests_per_second',
  requestsPerDay: 'requests_per_day',
  requestsPerMonth: 'requests_per_month',
  methodsPerSecond: 'methods_per_second',
};

export function planOf(name: string, row: StoredLimits): Plan {
  return {
    name,
    maxBlock: row.max_block,
    requestsPerSecond: row.requests_per_second,
    requestsPerDay: row.requests_per_day,
    requestsPerMonth: row.requests_per_month,
    methodsPerSecond: row.methods_per_second,
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
