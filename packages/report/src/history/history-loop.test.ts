import { createDatabase, type Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase, runSql, silentContext } from '@packhouse/local';
import { type Clock, DAY_MS, systemClock, toDay } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { createCollector } from './collect.js';
import { historyLoop } from './history-loop.js';

let fresh: FreshDatabase;
let database: Database;
const queues = { counts: async () => ({ waiting: 3, delayed: 1, active: 2 }) };
beforeAll(async () => {
  fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  database = open();
  await database.networks.register({ id: 'main', chainId: 1 });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});
const open = (): Database =>
  createDatabase({ connectionString: fresh.url, context: silentContext(), applicationName: 'test' });

const today = (): number => toDay(Date.now());
const publish = (blocks: number, bytes: number) =>
  runSql(
    fresh.url,
    `INSERT INTO packhouse.published (network_id, kind, bundles, blocks, bytes, newest_at)
     VALUES (1, 0, 1, ${blocks}, ${bytes}, now())
     ON CONFLICT (network_id, kind) DO UPDATE SET blocks = excluded.blocks, bytes = excluded.bytes`,
  );
const report = (head: number, calls: number, ms: number) => ({
  state: 'ok' as const,
  client: null,
  inFlight: 0,
  maxInFlight: 1,
  invalidResponses: 0,
  leftOut: null,
  throttledBy: null,
  methods: [],
  errors: [],
  lastError: null,
  capabilities: [],
  missingCapabilities: [],
  head,
  totals: { calls, errors: calls / 10, answers: calls, ms },
});

it('samples what each network, node, provider and key did since the sample before', async () => {
  const clock = { ...systemClock, ms: 0, elapsed: () => clock.ms };
  const collect = createCollector({ context: silentContext({ clock }), database, queues });
  const process = { process: '00000000-0000-4000-8000-000000000001', role: 'gateway', host: 'h' } as const;
  const nodes = (calls: number, ms: number) =>
    database.nodes.report(process, [
      { network: 'main', upstream: 'fast', provider: 'p', report: report(100, calls, ms) },
      { network: 'main', upstream: 'slow', provider: 'p', report: report(90, 0, 0) },
    ]);
  await publish(1_000, 5_000);
  await nodes(50, 500);
  const first = await collect();
  expect(first.installation.slice(0, 6)).toEqual([null, null, null, null, null, null]);
  expect(first.named.network.get('main')?.slice(0, 2)).toEqual([null, null]);

  await publish(1_600, 11_000);
  await nodes(170, 6_500);
  const figures = { requests: 60, units: 600, errors: 6, bytes: 6_000 };
  const used = { keyId: 7, network: 'main', ...figures };
  await database.usage.add([
    { ...used, day: today(), method: 'eth_call' },
    { ...used, day: today(), method: 'download', units: 0 },
    { ...used, day: today() - 1, method: 'lake-file', units: 0, errors: 0 },
  ]);
  const spent = { network: 'main', upstream: 'fast', provider: 'p', owner: '-', backfill: null };
  await database.spending.add([
    { ...spent, day: today(), method: 'eth_call', requests: 60, units: 6_000_000, bytes: 60 },
  ]);
  await runSql(
    fresh.url,
    `INSERT INTO packhouse.budget (provider, unit, reserve, price_per_million, currency) VALUES ('p', 'units', 0, 2, 'EUR')`,
  );
  await database.network('main').alarms.raise({ name: 'STUCK', message: 'm' });
  clock.ms = 60_000;
  const { installation, named } = await collect();
  expect(named.network).toEqual(new Map([['main', [10, 100, null, null, 0, 1]]]));
  expect(named.node).toEqual(
    new Map([
      ['["main","fast"]', [2, 0.2, 2, 100, 0]],
      ['["main","slow"]', [0, 0, 0, 0, 10]],
    ]),
  );
  expect(named.provider).toEqual(new Map([['p', [1, 100_000, 1, 0.2]]]));
  expect(named.key).toEqual(new Map([['7', [1, 2, 0.2, 10, 300]]]));
  expect(installation).toEqual([10, 100, 1, 2, 0.2, 10, 2, 0.2, 100_000, 0.2, 0, 8, 4, 0, 1, 1, 1, 11_000]);

  // Bundles were deleted, and the queues are away: unknown is not zero. Idle keys have no row.
  await publish(1_200, 8_000);
  clock.ms = 120_000;
  const failing = { counts: () => Promise.reject(new Error('away')) };
  const again = await collect();
  expect(again.named.network.get('main')?.slice(0, 2)).toEqual([null, null]);
  expect(again.named.key.size).toBe(0);
  const away = createCollector({ context: silentContext({ clock }), database, queues: failing });
  expect((await away()).installation.slice(11, 13)).toEqual([null, null]);
});

/** A clock of a process and of Postgres; sleepers wake when time passes. */
function makeTime() {
  const time = { pgMs: 500_000 * 3_600_000, elapsedMs: 0 };
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const clock: Clock = {
    now: () => Date.now(),
    elapsed: () => time.elapsedMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = { at: time.elapsedMs + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake);
        if (signal?.aborted === true) wake();
      }),
  };
  const wake = (): void => {
    for (const sleeper of [...sleepers]) if (sleeper.at <= time.elapsedMs) sleeper.wake();
  };
  return {
    clock,
    time,
    sleeping: () => sleepers.size,
    pass(ms: number): void {
      time.pgMs += ms;
      time.elapsedMs += ms;
      wake();
    },
  };
}

it('is done by one process, by another when that is killed, and follows a clock that is set', async () => {
  const { clock, pass, sleeping, time } = makeTime();
  const minutes = async (): Promise<number[]> => {
    const rows = await runSql<{ minute: number }>(
      fresh.url,
      'SELECT minute FROM packhouse.history_minute JOIN packhouse.history_series AS s ON s.id = series WHERE s.name = $$all$$ ORDER BY minute',
    );
    return rows.map(({ minute }) => minute - 500_000 * 60);
  };
  const ends: (() => Promise<void>)[] = [];
  const begin = () => {
    const stop = new AbortController();
    const context = silentContext({ clock, signal: stop.signal });
    const own = open();
    const { history } = own;
    const counters = { ...history.counters, nowMs: async () => time.pgMs };
    const shown = { ...own, history: { ...history, counters } } as Database;
    const running = historyLoop({ context, database: shown, queues });
    ends.push(async () => {
      stop.abort();
      await running;
      await own.close();
    });
    return context;
  };
  onTestFinished(async () => {
    await Promise.all(ends.map((end) => end()));
  });
  const contexts = [begin(), begin()];
  const outcomes = async (outcome: string): Promise<number> => {
    const texts = await Promise.all(contexts.map(({ metrics }) => metrics.render()));
    const line = new RegExp(`^packhouse_history_samples_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm');
    return texts.reduce((sum, text) => sum + Number(line.exec(text)?.[1] ?? 0), 0);
  };
  const idle = () => expect.poll(sleeping, { timeout: 30_000, interval: 5 }).toBe(2);
  /** Lets one minute pass in steps, so that whoever waits for the lock tries again. */
  const passMinute = async (): Promise<void> => {
    for (let step = 0; step < 12; step++) {
      await idle();
      pass(5_000);
    }
    await idle();
  };
  const { quarantine } = database.network('main');
  const held = { firstBlock: 7, kinds: ['logs' as const], cause: 'NODE_TIMEOUT', message: 'x' };
  const marks = async (): Promise<string[]> => {
    const all = await database.history.marks.list({
      since: new Date(Date.now() - 3_600_000),
      until: new Date(Date.now() + 3_600_000),
      limit: 100,
    });
    return all.flatMap(({ kind, subject }) => (subject === 'quarantine' ? [kind] : [])).reverse();
  };
  await quarantine.put({ ...held, upstream: null, payloadDigest: null, tried: [] });
  await passMinute();
  await passMinute();
  expect(await minutes()).toEqual([0, 1]);
  expect(await marks()).toEqual(['quarantine-begin']);
  expect(await outcomes('written')).toBe(2);

  await quarantine.settle({ firstBlock: 7, lastBlock: 7 }, ['logs']);
  await runSql(
    fresh.url,
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  for (let minute = 0; minute < 3; minute++) await passMinute();
  const after = await minutes();
  // It ended while nobody sampled.
  expect(await marks()).toEqual(['quarantine-begin', 'quarantine-end']);
  expect(after.length).toBeGreaterThanOrEqual(4);
  expect(after.slice(-2)).toEqual([3, 4]);

  // Set back by three minutes: they were sampled, and stay as they are.
  time.pgMs -= 180_000;
  const written = await outcomes('written');
  for (let minute = 0; minute < 3; minute++) await passMinute();
  expect(await minutes()).toEqual(after);
  expect(await outcomes('written')).toBe(written);
  expect(await outcomes('repeated')).toBeGreaterThan(0);
  // Set forward by ten: those between have no sample.
  time.pgMs += 600_000;
  await passMinute();
  await passMinute();
  expect((await minutes()).slice(-2)).toEqual([15, 16]);
  // The hour ends, and its minutes become a row.
  time.pgMs += DAY_MS;
  await passMinute();
  expect(await minutes()).toEqual([24 * 60 + 17]);
});
