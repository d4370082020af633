import { createDatabase, type Database, type KeyRow, type UsageCount } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { type Context, createLogger, createMetrics, DAY_MS, systemClock } from '@packhouse/runtime';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createQuotas, type Quotas } from './quotas.js';
import { createUsageCounts, type UsageCounts } from './usage-counts.js';

const WITHIN = { timeout: 60_000, interval: 50 };

const lines: string[] = [];
const contextAt = (now: () => number): Context => ({
  logger: createLogger({
    name: 'test',
    level: 'debug',
    destination: { write: (line) => void lines.push(line) },
  }),
  metrics: createMetrics(),
  clock: { ...systemClock, now },
  signal: new AbortController().signal,
});

function spend(usage: UsageCounts, keyId: number, units: number, method = 'eth_call'): void {
  const cell = usage.of(keyId, 'main', method);
  cell.requests += 1;
  cell.units += units;
}

describe('counts of usage', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  function setup() {
    vi.useFakeTimers();
    vi.setSystemTime('2026-03-31T23:59:58.500Z');
    const written: UsageCount[][] = [];
    const state = { away: false };
    const learned: unknown[] = [];
    const usage = createUsageCounts({
      context: contextAt(() => Date.now()),
      usage: {
        add: async (counts) => {
          if (state.away) throw new Error('the database is away');
          written.push([...counts]);
          return counts.map(({ keyId, day, units }) => ({
            keyId,
            day,
            inDay: units + 100,
            inMonth: units + 1_000,
          }));
        },
        forget: async () => undefined,
      },
      keepDays: 400,
      onTotals: (units) => void learned.push(units),
    });
    return { usage, written, state, learned };
  }
  const march = Date.parse('2026-03-31') / DAY_MS;
  const row = (over: Partial<UsageCount>): UsageCount => ({
    keyId: 1,
    day: march,
    network: 'main',
    method: 'eth_call',
    requests: 1,
    units: 2,
    errors: 0,
    bytes: 0,
    ...over,
  });

  it('are written a second later at most, in one statement', async () => {
    const { usage, written } = setup();
    spend(usage, 1, 2);
    spend(usage, 1, 2);
    spend(usage, 2, 5, 'eth_getLogs');
    usage.of(2, 'side', 'pointer').bytes += 70;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([
      [
        row({ requests: 2, units: 4 }),
        row({ keyId: 2, method: 'eth_getLogs', units: 5 }),
        row({ keyId: 2, network: 'side', method: 'pointer', requests: 0, units: 0, bytes: 70 }),
      ],
    ]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toHaveLength(1);
    await usage.close();
  });

  it('belong to the day that they were counted on, and all are written at the end', async () => {
    const { usage, written } = setup();
    await vi.advanceTimersByTimeAsync(1_000);
    spend(usage, 1, 2);
    vi.setSystemTime('2026-04-01T00:00:00.100Z');
    spend(usage, 1, 7);
    vi.setSystemTime('2026-03-31T23:59:59.900Z');
    spend(usage, 1, 1);
    await usage.close();
    expect(written).toEqual([[row({ requests: 2, units: 3 }), row({ day: march + 1, units: 7 })]]);
  });

  it('are kept while Postgres is away, and told once it is back', async () => {
    const { usage, written, state, learned } = setup();
    state.away = true;
    spend(usage, 1, 2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines.join('')).toContain('failed to write usage counts; they are kept');
    vi.setSystemTime('2026-03-31T23:59:59.500Z');
    spend(usage, 1, 3);
    state.away = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([[row({ requests: 2, units: 5 })]]);
    expect(learned).toEqual([{ keyId: 1, day: march, inDay: 105, inMonth: 1_005 }]);
    await usage.close();
  });
});

describe('quotas of several gateways', () => {
  let fresh: FreshDatabase;
  let database: Database;
  const open: UsageCounts[] = [];

  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    database = createDatabase({
      connectionString: fresh.url,
      context: contextAt(Date.now),
      applicationName: 'usage test',
    });
  });
  afterAll(async () => {
    await Promise.all(open.map((usage) => usage.close()));
    await database.close();
    await fresh.drop();
  });

  const begin = (now: () => number = Date.now): { usage: UsageCounts; quotas: Quotas } => {
    const context = contextAt(now);
    const quotas = createQuotas(context.clock);
    const usage = createUsageCounts({
      context,
      usage: database.usage,
      keepDays: 4_000,
      onTotals: quotas.update,
    });
    open.push(usage);
    return { usage, quotas };
  };
  const key = (id: number) =>
    ({ id, plan: { requestsPerDay: null, requestsPerMonth: 10 } }) as unknown as KeyRow;
  const take = ({ usage, quotas }: ReturnType<typeof begin>, id: number): boolean => {
    const allowed = quotas.take(key(id), 1).nearest?.allowed !== false;
    if (allowed) spend(usage, id, 1);
    return allowed;
  };

  it('are shared within a second', async () => {
    const noon = Date.parse('2026-03-31T12:00:00Z');
    const [one, two] = [begin(() => noon), begin(() => noon)];
    for (let n = 0; n < 9; n++) expect(take(one, 1)).toBe(true);
    expect(take(two, 1)).toBe(true);
    await vi.waitFor(() => {
      for (const { usage, quotas } of [one, two]) {
        // A request that costs nothing asks for the total.
        usage.of(1, 'main', 'usage').requests += 1;
        expect(quotas.used(1, noon).month.used).toBe(10);
      }
    }, WITHIN);
    expect(take(one, 1)).toBe(false);
    expect(take(two, 1)).toBe(false);
  });

  it('outlive the gateway that counted, also over a clock that jumps to the next month and back', async () => {
    const time = { now: Date.parse('2026-03-31T12:00:00Z') };
    const before = begin(() => time.now);
    for (let n = 0; n < 10; n++) expect(take(before, 2)).toBe(true);
    time.now = Date.parse('2026-04-01T12:00:00Z');
    for (let n = 0; n < 4; n++) expect(take(before, 2)).toBe(true);
    await before.usage.close();
    time.now = Date.parse('2026-03-31T13:00:00Z');
    const after = begin(() => time.now);
    expect(take(after, 2)).toBe(true);
    await vi.waitFor(() => expect(after.quotas.used(2, time.now).month.used).toBe(11), WITHIN);
    expect(take(after, 2)).toBe(false);
    time.now = Date.parse('2026-04-01T13:00:00Z');
    expect(take(after, 2)).toBe(true);
    await vi.waitFor(() => expect(after.quotas.used(2, time.now).month.used).toBe(5), WITHIN);
  });
});
