import type { Database } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import { type OperationParts, setBudget } from '@packhouse/operations';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Minutes of history: more than the hour of the sparklines. */
const MINUTES = 90;

/** An hour and a half of every curve: blocks arrive in waves, and a node has been silent for 47 minutes. */
export async function fillHistory(
  database: Database,
  networks: readonly { id: string; nodes: readonly { name: string; state?: string }[] }[],
): Promise<void> {
  const lock = await database.tryLock('history');
  if (lock === null) throw new Error('the lock of the history is taken');
  const writer = await database.history.writer();
  const keys = (await database.keys.list({})).map(({ id }) => String(id));
  const now = Math.floor(Date.now() / MINUTE_MS);
  for (let ago = MINUTES; ago > 0; ago--) {
    const wave = (phase: number): number =>
      1 + 0.35 * Math.sin(ago / 11 + phase) + 0.12 * Math.sin(ago / 2.3 + phase * 7);
    const isSilent = (id: string): boolean => id === 'base' && ago < 47;
    const ofNetwork = (id: string, at: number): number[] => {
      const blocks = isSilent(id) ? 0 : 140 * wave(at);
      return [blocks, blocks * 210_000, isSilent(id) ? (47 - ago) * 30 : 2, 900 * wave(at), 0, 0];
    };
    const ofNode = (state: string | undefined, at: number): number[] => {
      const silent = state === 'resting' && ago < 47;
      const calls = 16 * wave(at);
      return [calls, silent ? calls : 0.01, silent ? 0 : calls, silent ? 0 : calls * 77, 0];
    };
    const all = networks.map(({ id }, at) => ofNetwork(id, at)[0] ?? 0).reduce((sum, each) => sum + each, 0);
    const installation = [all, all * 210_000, 420 * wave(1), 31 * wave(2), 0.4 * wave(3), 9_800 * wave(1)];
    const rest = [160 * wave(4), 0.9 * wave(5), 11_400 * wave(4), 0.02, 4.1e9 * wave(6), 38 * wave(2), 8];
    const stock = [65, ago < 47 ? 1 : 0, networks.length, 571 - ago, 5.37e8 - ago * 4e5];
    await writer.write(
      {
        minute: now - ago,
        installation: [...installation, ...rest, ...stock],
        named: {
          network: new Map(networks.map(({ id }, at) => [id, ofNetwork(id, at)])),
          node: new Map(
            networks.flatMap(({ id, nodes }, at) =>
              nodes.map(
                ({ name, state }, of) => [JSON.stringify([id, name]), ofNode(state, at + of)] as const,
              ),
            ),
          ),
          provider: new Map([['provider-a', [70 * wave(4), 4_000 * wave(4), 9e5, 0.002 * wave(4)]]]),
          key: new Map(keys.map((id, at) => [id, [60 * wave(at), 4, 0.1, 1_400 * wave(at), 54_000]])),
        },
      },
      lock.fence,
    );
  }
  await lock.release();
}

/** Requests of two weeks, and the budgets that they are counted by. */
export async function fillSpending(parts: OperationParts): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS);
  const calls = [
    ['eth_getBlockReceipts', 410_000],
    ['eth_getBlockByNumber', 395_000],
    ['eth_getLogs', 88_000],
    ['debug_traceBlockByHash', 21_000],
  ] as const;
  const spent = ['ethereum', 'optimism'].flatMap((network, of) =>
    Array.from({ length: 14 }, (_, ago) =>
      calls.map(([method, most], at) => {
        const requests = Math.round((most * (1.2 + Math.sin(ago / 2 + of + at))) / (of + 2));
        const upstream = of === 0 ? 'mainnet.provider-a.example' : 'op.provider-a.example';
        const owner = ['default', 'risk', 'research'][(ago + at) % 3] ?? 'default';
        const units = requests * (at === 3 ? 170 : 20);
        const count = { provider: 'provider-a', network, upstream, method, owner, backfill: null };
        return { ...count, day: today - ago, requests, units, bytes: requests * 21_000 };
      }),
    ).flat(),
  );
  await parts.database.spending.add(spent);
  const price = { pricePerMillion: 0.4, currency: 'USD', reserve: 0.2 };
  await setBudget.run(parts, {
    provider: 'provider-a',
    unit: 'units',
    perSecond: 500,
    perDay: 30_000_000,
    perMonth: 900_000_000,
    weights: { debug_traceBlockByHash: 170, other: 20 },
    ...price,
  });
  await setBudget.run(parts, { provider: 'eth-archive-1.internal', unit: 'requests', perSecond: 200 });
}

/** Scheduled commands: one that ran, one that failed, one that is paused. */
export async function fillSchedules(database: Database, databaseUrl: string): Promise<void> {
  const common = { owner: 'default', everyMs: null, missed: 'once', setting: null } as const;
  const schedules = [
    {
      name: 'nightly-audit',
      cron: '0 3 * * *',
      zone: 'Europe/Berlin',
      command: ['audit', '--sample', '0.01'],
    },
    { name: 'repair-weekly', cron: '30 4 * * 7', zone: 'UTC', command: ['audit', '--repair'] },
    { name: 'retry-quarantine', cron: '*/30 * * * *', zone: 'UTC', command: ['quarantine', 'retry'] },
  ];
  for (const schedule of schedules) await database.schedules.add({ ...common, ...schedule }, 'ada');
  await database.schedules.setPaused('retry-quarantine', true, 'olga');
  await runSql(
    databaseUrl,
    `INSERT INTO packhouse.schedule_run (schedule, due, started_at, ended_at, outcome, exit_code, message) VALUES
       ('nightly-audit', now() - interval '19 hours', now() - interval '19 hours', now() - interval '1127 minutes',
         'done', 0, '5,713 bundles checked, none differs.'),
       ('repair-weekly', now() - interval '4 days', now() - interval '4 days', now() - interval '5759 minutes',
         'failed', 69, 'The object store does not respond.')`,
  );
}
