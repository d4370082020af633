import type { Budget } from '@packhouse/database';
import type { Upstream } from '@packhouse/networks';
import type { MethodCost } from './call-costs.js';
import { type Estimate, scaled } from './estimate.js';

/** What a backfill takes of the budget of one provider. */
export interface ProviderCost {
  provider: string;
  /** By the weights of the budget. */
  units: Estimate;
  /** null: the budget names no price. */
  price: Estimate | null;
  currency: string | null;
  /**
   * Seconds that its limits make it last at least, if nothing else is asked of it and its day and month are fresh; 0: it
   * has none that matter. Backfills leave the reserve.
   */
  seconds: number;
}

const DAY_S = 86_400;
const MONTH_S = 30 * DAY_S;

/** The costs of those providers that have a budget, by provider. */
export function providerCosts(
  calls: readonly MethodCost[],
  upstreams: readonly Upstream[],
  budgets: readonly Budget[],
): ProviderCost[] {
  return budgets.flatMap((budget): ProviderCost[] => {
    const { currency, perDay, perMonth, perSecond, pricePerMillion, provider, reserve } = budget;
    const own = upstreams.filter((upstream) => upstream.provider === provider).map(({ name }) => name);
    const asked = calls.filter(({ upstream }) => own.includes(upstream));
    if (asked.length === 0) return [];
    const units = asked
      .map(({ method, requests }) => scaled(requests, getWeight(budget, method)))
      .reduce((sum, { value, low, high }) => ({
        value: sum.value + value,
        low: sum.low + low,
        high: sum.high + high,
      }));
    const price = pricePerMillion === null ? null : scaled(units, pricePerMillion / 1_000_000);
    /** The periods that have to begin anew before the last unit may be taken. */
    const waits = (limit: number | null): number =>
      limit === null ? 0 : Math.max(0, Math.ceil(units.value / (limit * (1 - reserve))) - 1);
    const seconds = Math.max(
      perSecond === null ? 0 : units.value / (perSecond * (1 - reserve)),
      waits(perDay) * DAY_S,
      waits(perMonth) * MONTH_S,
    );
    return [{ provider, units, price, currency, seconds }];
  });
}

function getWeight({ unit, weights }: Budget, method: string): number {
  return unit === 'requests' ? 1 : (weights[method] ?? weights.other ?? 1);
}
