import { loadNetworks } from '@packhouse/networks';
import type { BudgetRow } from '@packhouse/operations';
import { formatCount } from '../terminal/format.js';
import { type CliIo, table } from '../terminal/io.js';

export function budgetTable(rows: readonly BudgetRow[]): string {
  const limit = (value: number | null): string => (value === null ? '-' : formatCount(value));
  const used = (units: number, of: number | null): string =>
    of === null ? formatCount(units) : `${formatCount(units)} of ${formatCount(of)}`;
  return table([
    ['PROVIDER', 'UNIT', 'SECOND', 'DAY', 'MONTH', 'RESERVE', 'PRICE', 'USED UP'],
    ...rows.map((row) => [
      row.provider,
      row.unit,
      limit(row.perSecond),
      used(row.usedOfDay, row.perDay),
      used(row.usedOfMonth, row.perMonth),
      `${Math.round(row.reserve * 100)}%`,
      row.pricePerMillion === null
        ? '-'
        : `${row.pricePerMillion} ${row.currency ?? ''}/M`.replace(' /', '/'),
      usedUp(row),
    ]),
  ]);
}

/** What is used up, for whom and until when. */
function usedUp(row: BudgetRow): string {
  const periods = [
    { used: row.usedOfMonth, limit: row.perMonth, ends: row.monthEnds },
    { used: row.usedOfDay, limit: row.perDay, ends: row.dayEnds },
  ];
  for (const [share, who] of [
    [1, ''],
    [1 - row.reserve, 'for backfills '],
  ] as const) {
    const over = periods.find(({ used, limit }) => limit !== null && used >= Math.floor(limit * share));
    if (over !== undefined) return `${who}until ${over.ends.toISOString().slice(0, 16)}Z`;
  }
  return '-';
}

/** Hosts whose upstreams have several providers in the networks file, if NETWORKS_FILE names it: one account may have two budgets. */
export async function sharedHosts({ env }: Pick<CliIo, 'env'>): Promise<string[]> {
  if (!env.NETWORKS_FILE) return [];
  const hosts = new Map<string, Set<string>>();
  for (const { upstreams } of await loadNetworks(env.NETWORKS_FILE, env)) {
    for (const { provider, url } of upstreams) {
      const { hostname } = new URL(url);
      hosts.set(hostname, (hosts.get(hostname) ?? new Set()).add(provider));
    }
  }
  return [...hosts]
    .filter(([, providers]) => providers.size > 1)
    .map(
      ([host, providers]) =>
        `${[...providers].join(' and ')} are both at ${host}: if that is one account, give them one provider.`,
    );
}
