import type { Budget, Database } from '@packhouse/database';
import { isKnownMethod } from '@packhouse/networks';
import { budgetStanding } from '@packhouse/node-rpc';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { refuseChanged } from './changed-meanwhile.js';
import { numberField } from './fields.js';
import { type OperationParts, operation } from './operation.js';

/** A budget, and what of it is used. */
export interface BudgetRow extends Budget {
  usedOfDay: number;
  usedOfMonth: number;
  /** The time of the store that counts. */
  dayEnds: Date;
  monthEnds: Date;
}

const provider = z
  .string()
  .regex(/^[A-Za-z0-9:][A-Za-z0-9._:-]{0,252}$/)
  .describe('as the networks file names it; default there: the host name of the url');
const decimal = z.number().positive().max(1_000_000_000).nullable();
const units = numberField(1, 1_000_000_000_000_000).nullable();

const fields = {
  unit: z
    .enum(['requests', 'units'])
    .optional()
    .describe('each request counts one, or what its method weighs'),
  perSecond: decimal.optional().describe('null: no limit'),
  perDay: units.optional().describe('of a day in UTC; null: no limit'),
  perMonth: units.optional().describe('of a calendar month in UTC; null: no limit'),
  weights: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/), numberField(0, 1_000_000))
    .optional()
    .describe('units of a request by method, or `other`; all of them, those before are dropped'),
  reserve: z
    .number()
    .min(0)
    .max(0.9)
    .optional()
    .describe('the share that backfills leave to clients and the head'),
  pricePerMillion: decimal.optional().describe('what a million units cost; null: unknown'),
  currency: z
    .string()
    .regex(/^[A-Z]{3,5}$/)
    .nullable()
    .optional(),
};

export const listBudgets = operation({
  name: 'budgets',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary:
    'What providers of nodes may be asked over all machines, what of it is used, and what waits for it.',
  input: z.object({}),
  run: async (
    parts,
  ): Promise<{
    rows: BudgetRow[];
    waits: Awaited<ReturnType<Database['budgets']['waits']>>;
  }> => {
    const { budgets } = parts.database;
    const rows = await Promise.all((await budgets.list()).map((budget) => standingOf(parts, budget)));
    return { rows, waits: await budgets.waits() };
  },
});

export const setBudget = operation({
  name: 'budgets/set',
  kind: 'change',
  role: 'operator',
  summary: 'Sets or changes a budget: every process keeps to it within a second.',
  input: z.object({
    provider,
    ...fields,
    expected: z
      .object(fields)
      .optional()
      .describe('fields as they were read: if one differs by now, nothing is changed'),
  }),
  run: async (parts, { provider, expected, ...given }) => {
    const { database, who } = parts;
    if (given.weights !== undefined) await checkMethods(database, Object.keys(given.weights));
    let begins = false;
    const after = await database.budgets.change(
      provider,
      (before) => {
        refuseChanged(`The budget of ${provider}`, { ...before }, expected);
        const changed = changedBudget(provider, before, given);
        begins = before === null || costsOf(before) !== costsOf(changed);
        return changed;
      },
      who,
    );
    // Its count begins with what was asked since the beginning of the month, by the new weights.
    if (begins) await leasesOf(parts).forget(provider);
    return standingOf(parts, after);
  },
});

export const removeBudget = operation({
  name: 'budgets/remove',
  kind: 'change',
  role: 'operator',
  summary: 'Removes a budget: the provider is asked without a limit.',
  input: z.object({ provider }),
  run: async ({ database, who }, { provider }) => {
    await database.budgets.change(
      provider,
      (before) => {
        if (before !== null) return null;
        throw new PackhouseError({
          code: 'BUDGET_UNKNOWN',
          message: `There is no budget of a provider "${provider}".`,
          hint: 'See `packhouse budget list`.',
        });
      },
      who,
    );
    return { provider, removed: true };
  },
});

type Parts = Pick<OperationParts, 'database' | 'leases'>;

const leasesOf = ({ database, leases }: Parts) => leases?.() ?? database.budgets;

async function standingOf(parts: Parts, budget: Budget): Promise<BudgetRow> {
  const stores = { table: parts.database.spending, leases: leasesOf(parts) };
  const { ofDay, ofMonth, ...ends } = await budgetStanding(budget, stores);
  return { ...budget, usedOfDay: ofDay, usedOfMonth: ofMonth, ...ends };
}

type Given = { [K in keyof Omit<Budget, 'provider'>]?: Budget[K] | undefined };

/** Throws USAGE for what does not fit. */
function changedBudget(provider: string, before: Budget | null, given: Given): Budget {
  const base: Budget = before ?? {
    ...{ provider, unit: 'requests', weights: {}, reserve: 0.1 },
    ...{ perSecond: null, perDay: null, perMonth: null, pricePerMillion: null, currency: null },
  };
  const some = Object.keys(given.weights ?? {}).length > 0;
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const after: Budget = { ...base, ...(some ? { unit: 'units' } : {}), ...named };
  if (after.unit === 'requests' && some)
    throw usage('--weights are for --unit units, and --unit is requests.');
  if (after.perSecond === null && after.perDay === null && after.perMonth === null) {
    throw usage(
      'A budget has a limit: give --per-second, --per-day or --per-month.',
      'Or `packhouse budget remove`.',
    );
  }
  checkHeaviest(after);
  return after;
}

/** A call that a whole day does not pay for could never be sent. */
function checkHeaviest({ unit, weights, perDay, perMonth, reserve }: Budget): void {
  const [method, units] = Object.entries(unit === 'units' ? weights : {}).sort((a, b) => b[1] - a[1])[0] ?? [
    'a request',
    1,
  ];
  for (const [limit, option] of [
    [perDay, '--per-day'],
    [perMonth, '--per-month'],
  ] as const) {
    if (limit === null || Math.floor(limit * (1 - reserve)) >= units) continue;
    throw usage(
      `${option} ${limit} leaves backfills ${Math.floor(limit * (1 - reserve))} units, and ${method} takes ${units}: it could never be sent.`,
      'Give more, or a smaller --reserve.',
    );
  }
}

const costsOf = ({ unit, weights }: Budget): string => JSON.stringify([unit, weights]);

/** Throws USAGE for a method that nobody knows. */
async function checkMethods(database: Database, methods: readonly string[]): Promise<void> {
  const unknown = methods.filter((method) => method !== 'other' && !isKnownMethod(method));
  if (unknown.length === 0) return;
  // A network may allow methods of its own; what was sent once exists.
  const sent = new Set((await database.spending.upstreams(0, 1_000_000)).map(({ method }) => method));
  const never = unknown.find((method) => !sent.has(method));
  if (never !== undefined) {
    throw usage(`There is no method ${never}, and none of this name was ever sent to a node.`);
  }
}

function usage(message: string, hint?: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message, hint });
}
