import { type Budget, type Database, formatDay, parseSince } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { today } from './key-usage.js';
import { type OperationParts, operation } from './operation.js';

/** What was asked of nodes, summed up. */
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
  /** By the price of the provider's budget; absent: it has none. */
  cost?: string;
}

const since = z
  .string()
  .refine((text) => parseSince(text, 0) !== null, 'takes a day, e.g. 2026-11-01, or so many, e.g. 30d')
  .default('7d')
  .describe('first day (UTC), or so many days');

export const upstreamSpending = operation({
  name: 'spending/upstreams',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 5_000,
  summary: 'Requests, units and bytes of each upstream by method, and what they cost.',
  input: z.object({ since }),
  run: async ({ database, context }, asked): Promise<SpentRow[]> => {
    const budgets = new Map((await database.budgets.list()).map((budget) => [budget.provider, budget]));
    const rows = await database.spending.upstreams(...daysOf(context, asked.since));
    return rows.map((row) => ({ ...row, ...costOf(row.units, budgets.get(row.provider)) }));
  },
});

export const ownerSpending = operation({
  name: 'spending/owners',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 5_000,
  summary: 'Requests, units and bytes that were asked of nodes for each owner, by day.',
  input: z.object({ since }),
  run: async ({ database, context }, asked): Promise<SpentRow[]> => {
    const rows: Awaited<ReturnType<Database['spending']['owners']>> = await database.spending.owners(
      ...daysOf(context, asked.since),
    );
    return rows.map(({ day, ...row }) => ({ day: formatDay(day), ...row }));
  },
});

/** From that day up to today. Throws INPUT_INVALID. */
function daysOf(context: OperationParts['context'], since: string): [since: number, until: number] {
  const until = today(context);
  const first = parseSince(since, until) ?? until;
  if (first <= until) return [first, until];
  throw new PackhouseError({
    code: 'INPUT_INVALID',
    message: `since takes a day up to today, got ${formatDay(first)}.`,
  });
}

function costOf(units: number, budget: Budget | undefined): { cost?: string } {
  if (budget === undefined || budget.pricePerMillion === null) return {};
  const amount = ((units / 1e6) * budget.pricePerMillion).toFixed(2);
  return { cost: budget.currency === null ? amount : `${amount} ${budget.currency}` };
}
