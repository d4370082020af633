import { type Budget, formatDay, parseSince } from '@packhouse/database';
import { z } from 'zod';
import { getToday, sinceField } from '../operation/fields.js';
import { type OperationParts, read } from '../operation/operation.js';
import { invalidInput } from '../operation/read-input.js';

/** Sums of requests to nodes. */
export interface SpentRow {
  provider?: string;
  network?: string;
  upstream?: string;
  method?: string;
  day?: string;
  owner?: string;
  requests: number;
  units: number;
  bytes: number;
  /** By the price of the provider's budget; absent: no price. */
  cost?: string;
}

export const upstreamSpending = read({
  name: 'spending/upstreams',
  role: 'viewer',
  sharedForMs: 5_000,
  summary: 'Requests, units, bytes and cost of each upstream by method.',
  input: z.object({ since: sinceField }),
  run: async ({ database, context }, asked): Promise<SpentRow[]> => {
    const budgets = new Map((await database.budgets.list()).map((budget) => [budget.provider, budget]));
    const rows = await database.spending.upstreams(...toDays(context, asked.since));
    return rows.map((row) => ({ ...row, ...getCost(row.units, budgets.get(row.provider)) }));
  },
});

export const ownerSpending = read({
  name: 'spending/owners',
  role: 'viewer',
  sharedForMs: 5_000,
  summary: 'Requests to nodes, units and bytes of each owner by day.',
  input: z.object({ since: sinceField }),
  run: async ({ database, context }, asked): Promise<SpentRow[]> => {
    const rows = await database.spending.owners(...toDays(context, asked.since));
    return rows.map(({ day, ...row }) => ({ day: formatDay(day), ...row }));
  },
});

/** The days up to today. Throws INPUT_INVALID. */
function toDays(context: OperationParts['context'], since: string): [since: number, until: number] {
  const until = getToday(context);
  const first = parseSince(since, until) ?? until;
  if (first <= until) return [first, until];
  throw invalidInput([{ name: 'since', message: 'takes a day up to today' }]);
}

function getCost(units: number, budget: Budget | undefined): { cost?: string } {
  if (budget === undefined || budget.pricePerMillion === null) return {};
  const amount = ((units / 1e6) * budget.pricePerMillion).toFixed(2);
  return { cost: budget.currency === null ? amount : `${amount} ${budget.currency}` };
}
