import { loadNetworks } from '@packhouse/networks';
import type { BudgetRow } from '@packhouse/operations';
import { describeError } from '@packhouse/runtime';
import { formatCount } from '../terminal/format.js';
import type { CliIo } from '../terminal/io.js';
import { columnTable } from '../terminal/table.js';

export function budgetTable(rows: readonly BudgetRow[]): string {
  const limit = (value: number | null): string => (value === null ? '-' : formatCount(value));
  const used = (units: number, of: number | null): string =>
    of === null ? formatCount(units) : `${formatCount(units)} of ${formatCount(of)}`;
  return columnTable(rows, {
    PROVIDER: (row) => row.provider,
    UNIT: (row) => row.unit,
    'PER SECOND': (row) => limit(row.perSecond),
    'PER DAY': (row) => used(row.usedOfDay, row.perDay),
    'PER MONTH': (row) => used(row.usedOfMonth, row.perMonth),
    RESERVE: (row) => `${Math.round(row.reserve * 100)}%`,
    PRICE: ({ pricePerMillion: price, currency }) =>
      price === null ? null : `${price} ${currency ?? ''}/M`.replace(' /', '/'),
    EXHAUSTED: usedUp,
  });
}

/** Until when it is exhausted, and whether only backfills wait. */
function usedUp(row: BudgetRow): string {
  const periods = [
    { used: row.usedOfMonth, limit: row.perMonth, ends: row.monthEnds },
    { used: row.usedOfDay, limit: row.perDay, ends: row.dayEnds },
  ];
  for (const [share, scope] of [
    [1, ''],
    [1 - row.reserve, 'for backfills '],
  ] as const) {
    const over = periods.find(({ used, limit }) => limit !== null && used >= Math.floor(limit * share));
    if (over !== undefined) return `${scope}until ${over.ends.toISOString().slice(0, 16)}Z`;
  }
  return '-';
}

/**
 * Mismatches with the networks file, if NETWORKS_FILE names it: a budget of a provider that no upstream has, and hosts
 * whose upstreams have several providers, as one account may then have two budgets.
 */
export async function budgetNotes(
  { env }: Pick<CliIo, 'env'>,
  budgets: readonly Pick<BudgetRow, 'provider'>[],
): Promise<string[]> {
  if (!env.NETWORKS_FILE) return [];
  const networks = await loadNetworks(env.NETWORKS_FILE, env).catch(describeError);
  // Budgets are in the database, and apply whatever is in the file.
  if (typeof networks === 'string') return [networks];
  const hosts = new Map<string, Set<string>>();
  for (const { upstreams } of networks) {
    for (const { provider, url } of upstreams) {
      const { host } = new URL(url);
      hosts.set(host, (hosts.get(host) ?? new Set()).add(provider));
    }
  }
  const used = new Set([...hosts.values()].flatMap((providers) => [...providers]));
  const unused = budgets
    .filter(({ provider }) => !used.has(provider))
    .map(
      ({ provider }) =>
        `No upstream has the provider ${provider}. The networks file has ${[...used].join(', ')}.`,
    );
  const shared = [...hosts]
    .filter(([, providers]) => providers.size > 1)
    .map(
      ([host, providers]) =>
        `${[...providers].join(' and ')} are both at ${host}. If that is one account, give them one provider.`,
    );
  return [...unused, ...shared];
}
