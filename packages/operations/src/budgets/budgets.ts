import type { Budget, Database } from '@packhouse/database';
import { isKnownMethod } from '@packhouse/networks';
import { getBudgetUsage } from '@packhouse/node-rpc';
import { z } from 'zod';
import { expectedField, refuseChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import { numberField, withoutUndefined } from '../operation/fields.js';
import { change, type OperationParts, read } from '../operation/operation.js';

/** A budget with its use. */
export interface BudgetRow extends Budget {
  usedOfDay: number;
  usedOfMonth: number;
  /** By the clock of the store. */
  dayEnds: Date;
  monthEnds: Date;
}

const provider = z
  .string()
  .regex(
    /^[A-Za-z0-9:][A-Za-z0-9._:-]{0,252}$/,
    'takes letters, digits, dots, dashes, colons and underscores',
  )
  .describe('as in the networks file; default there: the host name of the URL');
const DECIMAL = 'takes a number above 0 and up to 1000000000';
const decimal = z
  .preprocess(
    (value) => (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value),
    z.number(DECIMAL).positive(DECIMAL).max(1_000_000_000, DECIMAL),
  )
  .nullable();
const units = numberField(1, 1_000_000_000_000_000).nullable();

const fields = {
  unit: z
    .enum(['requests', 'units'], 'takes requests or units')
    .optional()
    .describe('requests count 1 each, units by method'),
  perSecond: decimal.optional().describe('null: unlimited'),
  perDay: units.optional().describe('per day in UTC; null: unlimited'),
  perMonth: units.optional().describe('per calendar month in UTC; null: unlimited'),
  weights: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/), numberField(0, 1_000_000))
    .optional()
    .describe('units per request by method, or `other`; replaces all'),
  reserve: z.number().min(0).max(0.9).optional().describe('share reserved for live traffic'),
  pricePerMillion: decimal.optional().describe('price per million units; null: unknown'),
  currency: z
    .string()
    .regex(/^[A-Z]{3,5}$/, 'takes 3 to 5 capital letters, e.g. USD')
    .nullable()
    .optional(),
};

export const listBudgets = read({
  name: 'budgets',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The budgets of providers with their use, and the backfills that wait for them.',
  run: async (
    parts,
  ): Promise<{
    rows: BudgetRow[];
    waits: Awaited<ReturnType<Database['budgets']['waits']>>;
  }> => {
    const { budgets } = parts.database;
    const rows = await Promise.all((await budgets.list()).map((budget) => getUse(parts, budget)));
    return { rows, waits: await budgets.waits() };
  },
});

export const setBudget = change({
  name: 'budgets/set',
  role: 'operator',
  summary: 'Creates or changes a budget; processes apply it within a second.',
  input: z.object({
    provider,
    ...fields,
    expected: expectedField(fields),
  }),
  run: async (parts, { provider, expected, ...given }) => {
    const { database, actor } = parts;
    if (given.weights !== undefined) await checkMethods(database, Object.keys(given.weights));
    let begins = false;
    const after = await database.budgets.change(
      provider,
      (before) => {
        refuseChanged(`The budget of ${provider}`, { ...before }, expected);
        const changed = changeBudget(provider, before, given);
        begins = before === null || getCosts(before) !== getCosts(changed);
        return changed;
      },
      actor,
    );
    // The count starts with the requests of this month, by the new weights.
    if (begins) await getLeases(parts).forget(provider);
    return getUse(parts, after);
  },
});

export const removeBudget = change({
  name: 'budgets/remove',
  role: 'operator',
  summary: 'Removes a budget: calls to the provider are unlimited.',
  input: z.object({ provider }),
  run: async ({ database, actor }, { provider }) => {
    await database.budgets.change(
      provider,
      (before) => {
        if (before !== null) return null;
        fail('BUDGET_UNKNOWN', `No budget for provider "${provider}".`, 'See `packhouse budget list`.');
      },
      actor,
    );
    return { provider, removed: true };
  },
});

type Parts = Pick<OperationParts, 'database' | 'leases'>;

const getLeases = ({ database, leases }: Parts) => leases?.() ?? database.budgets;

async function getUse(parts: Parts, budget: Budget): Promise<BudgetRow> {
  const stores = { table: parts.database.spending, leases: getLeases(parts) };
  const { ofDay, ofMonth, ...ends } = await getBudgetUsage(budget, stores);
  return { ...budget, usedOfDay: ofDay, usedOfMonth: ofMonth, ...ends };
}

type Given = { [K in keyof Omit<Budget, 'provider'>]?: Budget[K] | undefined };

/** Throws USAGE for what does not fit. */
function changeBudget(provider: string, before: Budget | null, given: Given): Budget {
  const base: Budget = before ?? {
    provider,
    unit: 'requests',
    weights: {},
    reserve: 0.1,
    perSecond: null,
    perDay: null,
    perMonth: null,
    pricePerMillion: null,
    currency: null,
  };
  const some = Object.keys(given.weights ?? {}).length > 0;
  const after: Budget = { ...base, ...(some ? { unit: 'units' } : {}), ...withoutUndefined(given) };
  if (after.unit === 'requests' && some)
    fail('USAGE', 'Units per request, by method, need the unit "units".');
  if (after.perSecond === null && after.perDay === null && after.perMonth === null) {
    fail(
      'USAGE',
      'A budget needs a limit: per second, per day or per month.',
      'Set one, or remove the budget.',
    );
  }
  checkHeaviest(after);
  return after;
}

/** A call that exceeds the budget of a day could never be sent. */
function checkHeaviest({ unit, weights, perDay, perMonth, reserve }: Budget): void {
  const [method, units] = Object.entries(unit === 'units' ? weights : {}).sort((a, b) => b[1] - a[1])[0] ?? [
    'a request',
    1,
  ];
  for (const [limit, period] of [
    [perDay, 'day'],
    [perMonth, 'month'],
  ] as const) {
    if (limit === null || Math.floor(limit * (1 - reserve)) >= units) continue;
    fail(
      'USAGE',
      `The limit of ${limit} per ${period} leaves ${Math.floor(limit * (1 - reserve))} units to backfills, less than the ${units} of ${method}.`,
      'Raise the limit, or lower the reserve.',
    );
  }
}

const getCosts = ({ unit, weights }: Budget): string => JSON.stringify([unit, weights]);

/** Throws USAGE for an unknown method. */
async function checkMethods(database: Database, methods: readonly string[]): Promise<void> {
  const unknown = methods.filter((method) => method !== 'other' && !isKnownMethod(method));
  if (unknown.length === 0) return;
  // A network may allow methods of its own; what was sent once exists.
  const sent = new Set((await database.spending.upstreams(0, 1_000_000)).map(({ method }) => method));
  const never = unknown.find((method) => !sent.has(method));
  if (never !== undefined) {
    fail('USAGE', `Unknown method ${never}.`);
  }
}
