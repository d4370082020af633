import type { Budget } from '@packhouse/database';
import type { Upstream } from '@packhouse/networks';
import { expect, test } from 'vitest';
import { providerCosts } from './provider-costs.js';

const upstream = (name: string, provider: string): Upstream => ({
  name,
  provider,
  url: 'http://node',
  headers: {},
  priority: 1,
  maxInFlight: 8,
});
const calls = (name: string, method: string, count: number) => {
  const requests = { value: count, low: count / 2, high: count * 2 };
  return { upstream: name, method, requests, httpRequests: count, bytes: requests };
};
const budget: Budget = {
  provider: 'acme',
  unit: 'units',
  perSecond: 100,
  perDay: null,
  perMonth: null,
  weights: { eth_getBlockReceipts: 20, other: 2 },
  reserve: 0.2,
  pricePerMillion: 1_000_000,
  currency: 'USD',
};
const asked = [calls('a', 'eth_getBlockByNumber', 1_000), calls('b', 'eth_getBlockReceipts', 1_000)];
const upstreams = [upstream('a', 'acme'), upstream('b', 'acme'), upstream('c', 'other')];

test('units are weighed, over all upstreams of a provider, and priced', () => {
  expect(providerCosts(asked, upstreams, [budget, { ...budget, provider: 'other' }])).toEqual([
    {
      provider: 'acme',
      units: { value: 22_000, low: 11_000, high: 44_000 },
      price: { value: 22_000, low: 11_000, high: 44_000 },
      currency: 'USD',
      seconds: 275,
    },
  ]);
  const [plain] = providerCosts(asked, upstreams, [{ ...budget, unit: 'requests', pricePerMillion: null }]);
  expect(plain).toMatchObject({ units: { value: 2_000 }, price: null, seconds: 25 });
});

test('a day or a month of which the reserve is left has to begin anew for the rest', () => {
  const [fits] = providerCosts(asked, upstreams, [{ ...budget, perSecond: null, perDay: 27_500 }]);
  expect(fits?.seconds).toBe(0);
  const [days] = providerCosts(asked, upstreams, [{ ...budget, perSecond: null, perDay: 10_000 }]);
  expect(days?.seconds).toBe(2 * 86_400);
  const [month] = providerCosts(asked, upstreams, [{ ...budget, perMonth: 20_000 }]);
  expect(month?.seconds).toBe(30 * 86_400);
});
