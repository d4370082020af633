import type { Plan } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { changedMeanwhile } from './changed-meanwhile.js';
import { flagField, numberField } from './fields.js';
import { noteChange } from './note-change.js';
import { operation } from './operation.js';

/** A plan as it is shown; a call costs one unit or more. */
export interface PublicPlan {
  name: string;
  unitsPerSecond: number;
  /** Of a day in UTC; null: no limit. */
  unitsPerDay: number | null;
  /** Of a calendar month in UTC; null: no limit. */
  unitsPerMonth: number | null;
  /** Of single methods or routes, whatever they cost. */
  callsPerSecond: Readonly<Record<string, number>>;
  /** The last block of bundles and files; null: all. */
  maxBlock: number | null;
  /** Keys of the plan that are not revoked. */
  keys: number;
}

const perSecond = numberField(1, 1_000_000_000);
const units = numberField(1, 1_000_000_000_000_000).nullable();
const block = numberField(0, 1_000_000_000_000_000).nullable();
const method = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/);

export const listPlans = operation({
  name: 'plans',
  kind: 'read',
  role: 'viewer',
  summary: 'The plans with their limits and the number of their keys.',
  input: z.object({}),
  run: async ({ database }) => {
    const [plans, keys] = await Promise.all([database.plans.list(), database.keys.countByPlan()]);
    return plans.map((plan) => publicPlan(plan, keys));
  },
});

export const setPlan = operation({
  name: 'plans/set',
  kind: 'change',
  role: 'admin',
  summary: 'Changes limits of a plan, or makes one: every gateway has them within a second.',
  input: z.object({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'takes 1 to 32 lower-case letters, digits and dashes'),
    unitsPerSecond: perSecond.optional(),
    unitsPerDay: units.optional().describe('null: no limit'),
    unitsPerMonth: units.optional().describe('null: no limit'),
    maxBlock: block.optional().describe('the last block of bundles and files; null: all'),
    callsPerSecond: z
      .record(method, perSecond.nullable())
      .optional()
      .describe('by method or route; null ends a limit, and those that are not named stay'),
    make: flagField.optional().describe('make it if there is none'),
    expected: z
      .object({
        unitsPerSecond: perSecond,
        unitsPerDay: units,
        unitsPerMonth: units,
        maxBlock: block,
        callsPerSecond: z.record(method, perSecond),
      })
      .optional()
      .describe('the limits as they were read: others are not overwritten'),
  }),
  run: async (parts, { name, make = false, expected, ...given }) => {
    const { database } = parts;
    const all = await database.plans.list();
    const before = all.find((each) => each.name === name);
    if (before === undefined && !make) {
      throw new PackhouseError({
        code: 'PLAN_UNKNOWN',
        message: `There is no plan "${name}".`,
        hint: `Plans are ${all.map((plan) => plan.name).join(', ')}; \`packhouse plans set <name> --new\` makes one.`,
      });
    }
    const change = columnsOf(given, before?.methodsPerSecond ?? {});
    const seen = expected === undefined ? undefined : (columnsOf(expected, {}) as Omit<Plan, 'name'>);
    const after = await database.plans.set(name, change, { make, expected: seen });
    const keys = await database.keys.countByPlan();
    if (after === null) {
      const now = (await database.plans.list()).find((each) => each.name === name);
      throw changedMeanwhile(`Plan "${name}"`, now === undefined ? null : publicPlan(now, keys));
    }
    const [shown, was] = [after, before ?? null].map((plan) => plan && publicPlan(plan, keys));
    await noteChange(parts, `plan ${name}`, before === undefined ? 'add' : 'set', was ?? null, shown ?? null);
    return publicPlan(after, keys);
  },
});

type Limits = Partial<Pick<PublicPlan, 'unitsPerSecond' | 'unitsPerDay' | 'unitsPerMonth' | 'maxBlock'>> & {
  callsPerSecond?: Readonly<Record<string, number | null>> | undefined;
};

function columnsOf(
  {
    unitsPerSecond,
    unitsPerDay,
    unitsPerMonth,
    maxBlock,
    callsPerSecond,
  }: { [K in keyof Limits]: Limits[K] | undefined },
  methods: Plan['methodsPerSecond'],
): Partial<Omit<Plan, 'name'>> {
  const merged = Object.entries({ ...methods, ...callsPerSecond });
  return {
    ...(unitsPerSecond === undefined ? {} : { requestsPerSecond: unitsPerSecond }),
    ...(unitsPerDay === undefined ? {} : { requestsPerDay: unitsPerDay }),
    ...(unitsPerMonth === undefined ? {} : { requestsPerMonth: unitsPerMonth }),
    ...(maxBlock === undefined ? {} : { maxBlock }),
    ...(callsPerSecond === undefined
      ? {}
      : {
          methodsPerSecond: Object.fromEntries(
            merged.filter((each): each is [string, number] => each[1] !== null),
          ),
        }),
  };
}

function publicPlan(plan: Plan, keys: ReadonlyMap<string, number>): PublicPlan {
  return { name: plan.name, ...limitsOf(plan), keys: keys.get(plan.name) ?? 0 };
}

/** The limits of a plan as they are shown. */
export function limitsOf(plan: Plan): Omit<PublicPlan, 'name' | 'keys'> {
  return {
    ...{ unitsPerSecond: plan.requestsPerSecond, unitsPerDay: plan.requestsPerDay },
    ...{ unitsPerMonth: plan.requestsPerMonth, callsPerSecond: plan.methodsPerSecond },
    maxBlock: plan.maxBlock,
  };
}
