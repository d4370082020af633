import { type Context, createOnceAWhile, DAY_MS, toDay } from '@packhouse/runtime';
import { type BudgetState, createState, getUsage, type Limits } from './budget-rule.js';
import { createLedger, type Ledger } from './create-ledger.js';
import type { LeaseStore } from './lease-store.js';

/** What a provider may be asked. */
interface Budget extends Limits {
  provider: string;
  /** Weights count only if it is `units`. */
  unit: 'requests' | 'units';
  /** Units of a request by method, or `other`; default 1. */
  weights: Readonly<Record<string, number>>;
}

export interface SpentSums {
  /** Sums of requests on these days by upstream and method, numbered since 1970-01-01. */
  upstreams(since: number, until: number): Promise<{ provider: string; method: string; requests: number }[]>;
}

export interface BudgetsParts {
  context: Pick<Context, 'clock' | 'logger'>;
  /** The budgets as they are now. */
  budgets: { list(): Promise<Budget[]> };
  table: SpentSums;
  leases: LeaseStore;
}

/** A change of a budget has its effect within this time. */
const POLL_MS = 1_000;
const COMPLAIN_MS = 60_000;
const NO_LIMITS: Limits = { perSecond: null, perDay: null, perMonth: null, reserve: 0 };

/** The budgets as the table has them, read again every second; while it is away they stay as they were. */
export async function openBudgets({ context, table, budgets, leases }: BudgetsParts) {
  const seldom = createOnceAWhile(COMPLAIN_MS, () => context.clock.elapsed());
  let known = new Map<string, { budget: Budget; ledger: Ledger }>();
  let loaded = '';

  const open = (provider: string): Ledger =>
    createLedger({
      context,
      provider,
      store: leases,
      key: provider,
      name: `provider ${provider}`,
      limits: () => known.get(provider)?.budget ?? NO_LIMITS,
      first: (now) => readFirstState(known.get(provider)?.budget as Budget, table, now),
    });

  const load = async (): Promise<void> => {
    const rows = await budgets.list();
    const text = JSON.stringify(rows);
    if (text === loaded) return;
    loaded = text;
    const before = known;
    known = new Map(
      rows.map((budget) => [
        budget.provider,
        { budget, ledger: before.get(budget.provider)?.ledger ?? open(budget.provider) },
      ]),
    );
    for (const { ledger } of [...before.values(), ...known.values()]) ledger.changed();
  };
  await load();
  const timer = setInterval(() => {
    load().catch((error: unknown) => {
      if (seldom('load').say) context.logger.warn({ err: error }, 'budgets not read: kept as they were');
    });
  }, POLL_MS);
  timer.unref();

  return {
    of: (provider: string): Ledger | null => known.get(provider)?.ledger ?? null,
    weight: (provider: string, method: string): number => {
      const budget = known.get(provider)?.budget;
      return budget === undefined ? 1 : getWeight(budget, method);
    },
    /** The ceiling that the networks file sets for one upstream. */
    ofUpstream: (network: string, upstream: string, provider: string, perSecond: number): Ledger =>
      createLedger({
        context,
        provider,
        store: leases,
        key: `${network}/${upstream}`,
        name: `upstream ${upstream} of ${network}`,
        limits: () => ({ ...NO_LIMITS, perSecond }),
        first: async (now) => createState(now),
      }),
    close: () => clearInterval(timer),
  };
}

function getWeight({ unit, weights }: Pick<Budget, 'unit' | 'weights'>, method: string): number {
  return unit === 'requests' ? 1 : (weights[method] ?? weights.other ?? 1);
}

/** A budget that was set in the middle of a month has what was asked since its beginning. */
async function readFirstState(budget: Budget, table: SpentSums, now: number): Promise<BudgetState> {
  const date = new Date(now);
  const today = toDay(now);
  const first = Math.floor(Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / DAY_MS);
  const sum = async (since: number): Promise<number> =>
    (await table.upstreams(since, today))
      .filter(({ provider }) => provider === budget.provider)
      .reduce((units, { method, requests }) => units + requests * getWeight(budget, method), 0);
  return createState(now, await sum(today), await sum(first));
}

/** What is used of a budget, and when its day and month end, by the clock of the store. */
export async function getBudgetUsage(
  budget: Budget,
  { leases, table }: Pick<BudgetsParts, 'leases' | 'table'>,
): Promise<{ ofDay: number; ofMonth: number; dayEnds: Date; monthEnds: Date }> {
  const { state, now } = await leases.read(budget.provider);
  const known =
    state === null ? await readFirstState(budget, table, now) : (JSON.parse(state) as BudgetState);
  const { dayEnds, monthEnds, ...used } = getUsage(known, now);
  return { ...used, dayEnds: new Date(dayEnds), monthEnds: new Date(monthEnds) };
}
