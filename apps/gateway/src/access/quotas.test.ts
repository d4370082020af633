import type { KeyRow, Plan } from '@packhouse/database';
import { DAY_MS, toDay } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { createQuotas } from './quotas.js';

const key = (over: Partial<Plan>, id = 1) =>
  ({
    id,
    plan: {
      name: 'p',
      maxBlock: null,
      requestsPerSecond: 1_000,
      requestsPerDay: null,
      requestsPerMonth: null,
      methodsPerSecond: {},
      maxLogRange: null,
      ...over,
    },
  }) as KeyRow;

function setup(date: string) {
  const time = { now: Date.parse(date) };
  return { time, quotas: createQuotas({ now: () => time.now }) };
}

describe('the limit of a month', () => {
  it('is of calendar months in UTC, whatever their days', () => {
    const { time, quotas } = setup('2026-02-28T23:59:59Z');
    const row = key({ requestsPerMonth: 10 });
    expect(quotas.take(row, 10).nearest).toMatchObject({ allowed: true, window: 'month', resetMs: 1_000 });
    expect(quotas.take(row, 1).nearest).toMatchObject({ allowed: false, remaining: 0, resetMs: 1_000 });
    time.now += 1_000;
    expect(quotas.take(row, 1).nearest).toMatchObject({ allowed: true, remaining: 9, resetMs: 31 * DAY_MS });
    time.now = Date.parse('2026-12-31T23:00:00Z');
    expect(quotas.take(row, 3).nearest).toMatchObject({ allowed: true, remaining: 7, resetMs: 3_600_000 });
    expect(quotas.take(key({ requestsPerMonth: 10 }, 2), 10).nearest).toMatchObject({ allowed: true });
  });

  it('frees nothing twice and locks nobody out when the clock jumps over the end of a month', () => {
    const { time, quotas } = setup('2026-03-31T12:00:00Z');
    const row = key({ requestsPerMonth: 5, requestsPerDay: 4 });
    expect(quotas.take(row, 4).nearest?.allowed).toBe(true);
    const march = time.now;
    time.now = Date.parse('2026-04-02T12:00:00Z');
    expect(quotas.take(row, 4).nearest?.allowed).toBe(true);
    time.now = march;
    expect(quotas.take(row, 1).nearest).toMatchObject({ allowed: false, window: 'day' });
    expect(quotas.used(1, time.now)).toMatchObject({ day: { used: 4 }, month: { used: 4 } });
    for (let jump = 0; jump < 5; jump += 1) {
      time.now = Date.parse('2026-04-02T13:00:00Z');
      expect(quotas.take(row, 1).nearest?.allowed).toBe(false);
      time.now = march;
      expect(quotas.take(row, 1).nearest?.allowed).toBe(false);
    }
    time.now = Date.parse('2026-04-03T00:00:00Z');
    expect(quotas.take(row, 1).nearest).toMatchObject({ allowed: true, window: 'month', remaining: 0 });
    expect(quotas.take(row, 1).nearest).toMatchObject({ allowed: false, window: 'month' });
    time.now = Date.parse('2026-05-01T00:00:00Z');
    expect(quotas.take(row, 4).nearest?.allowed).toBe(true);
  });

  it('takes what other gateways counted, for the month it was counted in, and never goes back', () => {
    const { time, quotas } = setup('2026-03-31T12:00:00Z');
    const row = key({ requestsPerMonth: 100 });
    quotas.take(row, 1);
    const day = toDay(time.now);
    quotas.update({ keyId: 1, day, inDay: 3, inMonth: 60 });
    expect(quotas.take(row, 1).nearest).toMatchObject({ remaining: 39 });
    quotas.update({ keyId: 1, day, inDay: 1, inMonth: 20 });
    expect(quotas.peek(row).nearest).toMatchObject({ remaining: 39 });
    time.now = Date.parse('2026-04-01T00:00:00Z');
    quotas.take(row, 1);
    quotas.update({ keyId: 1, day, inDay: 9, inMonth: 99 });
    expect(quotas.peek(row).nearest).toMatchObject({ remaining: 99 });
  });
});

describe('the warning', () => {
  it('begins at 80 % of a day or a month', () => {
    const { quotas } = setup('2026-03-31T12:00:00Z');
    const row = key({ requestsPerDay: 10, requestsPerMonth: 12 });
    const warnings = Array.from({ length: 11 }, () => quotas.take(row, 1).warning);
    expect(warnings).toEqual([
      ...Array.from({ length: 7 }, () => undefined),
      'day 80% of 10 units',
      'day 90% of 10 units',
      'day 100% of 10 units, month 83% of 12 units',
      'day 100% of 10 units, month 91% of 12 units',
    ]);
    expect(quotas.peek(key({ requestsPerDay: 1_000 })).warning).toBeUndefined();
    expect(quotas.peek(key({})).nearest).toBeNull();
  });
});
