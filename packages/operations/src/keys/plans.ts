import type { Plan } from '@packhouse/database';
import { z } from 'zod';
import { failChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import { flagField, numberField, withoutUndefined } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, read } from '../operation/operation.js';

/** A plan as it is shown; a call costs one unit or more. */
export interface PublicPlan {
  name: string;
  unitsPerSecond: number;
  /** Per day in UTC; null: unlimited. */
  unitsPerDay: number | null;
  /** Per calendar month in UTC; null: unlimited. */
  unitsPerMonth: number | null;
  /** By method or route. */
  callsPerSecond: Readonly<Record<string, number>>;
  /** The last block of bundles and files; null: all. */
  maxBlock: number | null;
  /** Most blocks of one eth_getLogs; null: unlimited. */
  maxLogRange: number | null;
  /** Whether it limits nothing that matters: only admins create keys of it. */
  unlimited: boolean;
  /** Keys of the plan that are not revoked. */
  keys: number;
}

const perSecond = numberField(1, 1_000_000_000);
const units = numberField(1, 1_000_000_000_000_000).nullable();
const block = numberField(0, 1_000_000_000_000_000).nullable();
/** Most blocks of one eth_getLogs. */
export const logRange = numberField(1, 1_000_000_000).nullable();
const method = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/);

export const listPlans = read({
  name: 'plans',
  role: 'viewer',
  summary: 'The plans with their limits and their number of keys.',
  run: async ({ database }) => {
    const [plans, keys] = await Promise.all([database.plans.list(), database.keys.countByPlan()]);
    return plans.map((plan) => toPublicPlan(plan, keys));
  },
});

export const setPlan = change({
  name: 'plans/set',
  role: 'admin',
  summary: 'Changes or creates a plan; gateways apply it within a second.',
  input: z.object({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'takes 1 to 32 lower-case letters, digits and dashes'),
    unitsPerSecond: perSecond.optional(),
    unitsPerDay: units.optional().describe('null: unlimited'),
    unitsPerMonth: units.optional().describe('null: unlimited'),
    maxBlock: block.optional().describe('the last block of bundles and files; null: all'),
    maxLogRange: logRange.optional().describe('most blocks of one eth_getLogs; null: unlimited'),
    callsPerSecond: z
      .record(method, perSecond.nullable())
      .optional()
      .describe('by method or route; null removes a limit, others stay'),
    make: flagField.optional().describe('create it if it is unknown'),
    expected: z
      .object({
        unitsPerSecond: perSecond,
        unitsPerDay: units,
        unitsPerMonth: units,
        maxBlock: block,
        callsPerSecond: z.record(method, perSecond),
        maxLogRange: logRange,
      })
      .optional()
      .describe('limits as they were read; if one has changed since, the request is refused'),
  }),
  run: async (parts, { name, make = false, expected, ...given }) => {
    const { database } = parts;
    const all = await database.plans.list();
    const before = all.find((each) => each.name === name);
    if (before === undefined && !make) {
      fail(
        'PLAN_UNKNOWN',
        `Unknown plan "${name}".`,
        `Plans: ${all.map((plan) => plan.name).join(', ')}. \`packhouse plans set <name> --new\` creates one.`,
      );
    }
    const change = toColumns(given, before?.methodsPerSecond ?? {});
    const seen = expected === undefined ? undefined : (toColumns(expected, {}) as Omit<Plan, 'name'>);
    const after = await database.plans.set(name, change, { make, expected: seen });
    const keys = await database.keys.countByPlan();
    if (after === null) {
      const now = (await database.plans.list()).find((each) => each.name === name);
      failChanged(`Plan "${name}"`, now === undefined ? null : toPublicPlan(now, keys));
    }
    const [shown, was] = [after, before ?? null].map((plan) => plan && toPublicPlan(plan, keys));
    await noteChange(parts, `plan ${name}`, before === undefined ? 'add' : 'set', was ?? null, shown ?? null);
    return toPublicPlan(after, keys);
  },
});

type Limits = Partial<
  Pick<PublicPlan, 'unitsPerSecond' | 'unitsPerDay' | 'unitsPerMonth' | 'maxBlock' | 'maxLogRange'>
> & {
  callsPerSecond?: Readonly<Record<string, number | null>> | undefined;
};

function toColumns(
  limits: { [K in keyof Limits]: Limits[K] | undefined },
  methods: Plan['methodsPerSecond'],
): Partial<Omit<Plan, 'name'>> {
  const calls = Object.entries({ ...methods, ...limits.callsPerSecond });
  const numbers = calls.filter((each): each is [string, number] => each[1] !== null);
  return withoutUndefined({
    requestsPerSecond: limits.unitsPerSecond,
    requestsPerDay: limits.unitsPerDay,
    requestsPerMonth: limits.unitsPerMonth,
    maxBlock: limits.maxBlock,
    maxLogRange: limits.maxLogRange,
    methodsPerSecond: limits.callsPerSecond && Object.fromEntries(numbers),
  });
}

function toPublicPlan(plan: Plan, keys: ReadonlyMap<string, number>): PublicPlan {
  return {
    name: plan.name,
    ...getLimits(plan),
    unlimited: isUnlimited(plan),
    keys: keys.get(plan.name) ?? 0,
  };
}

/** More units per second than an installation serves. */
const UNLIMITED_PER_SECOND = 1_000_000;

/** Whether a plan has neither a limit per day nor per month, and none per second that is ever reached. */
export function isUnlimited({ requestsPerDay, requestsPerMonth, requestsPerSecond }: Plan): boolean {
  return requestsPerDay === null && requestsPerMonth === null && requestsPerSecond >= UNLIMITED_PER_SECOND;
}

/** The limits of a plan as they are shown. */
export function getLimits(plan: Plan): Omit<PublicPlan, 'name' | 'unlimited' | 'keys'> {
  return {
    unitsPerSecond: plan.requestsPerSecond,
    unitsPerDay: plan.requestsPerDay,
    unitsPerMonth: plan.requestsPerMonth,
    callsPerSecond: plan.methodsPerSecond,
    maxBlock: plan.maxBlock,
    maxLogRange: plan.maxLogRange,
  };
}
