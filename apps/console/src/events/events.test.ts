import type { AddressInfo } from 'node:net';
import { getHash, makeSecret } from '@packhouse/operations';
import { PackhouseError, systemClock } from '@packhouse/runtime';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { useConsole } from '../testing/use-console.js';

let elapsed = 1_000;
let wake = (): void => undefined;
const on = useConsole({
  clock: {
    ...systemClock,
    elapsed: () => elapsed,
    sleep: (_, signal) =>
      new Promise((resolve) => {
        const end = (): void => {
          signal?.removeEventListener('abort', end);
          resolve();
        };
        wake = end;
        signal?.addEventListener('abort', end);
      }),
  },
});

interface Page {
  status: number;
  retryAfter: string | null;
  told: { event: string; data: Record<string, unknown> }[];
  ended: boolean;
  left: boolean;
  leave(): void;
}

let viewer: { authorization: string };
let pages: Page[] = [];

const open = async (headers = viewer, topics = 'alarms'): Promise<Page> => {
  const { port } = on.app.server.address() as AddressInfo;
  const left = new AbortController();
  const url = `http://127.0.0.1:${port}/api/events?topics=${topics}`;
  const answer = await fetch(url, { headers, signal: left.signal });
  const { body, status } = answer;
  const page: Page = {
    status,
    retryAfter: answer.headers.get('retry-after'),
    told: [],
    ended: false,
    left: false,
    leave: () => {
      page.left = true;
      left.abort();
    },
  };
  pages.push(page);
  const read = async (): Promise<void> => {
    let text = '';
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + piece).split('\n\n');
      text = events.pop() as string;
      for (const each of events) {
        const [, event, data] = /^id: \d+\nevent: (.+)\ndata: (.+)$/.exec(each) ?? [];
        if (event !== undefined && data !== undefined) page.told.push({ event, data: JSON.parse(data) });
      }
    }
  };
  void read().then(
    () => {
      page.ended = true;
    },
    () => undefined,
  );
  return page;
};

const listeners = async (): Promise<number> =>
  Number(/^packhouse_console_listeners (\d+)$/m.exec(await on.context.metrics.render())?.[1]);

/** Lets the console look again, two seconds later. */
const look = async (): Promise<void> => {
  const before = wake;
  elapsed += 2_000;
  wake();
  await vi.waitUntil(() => wake !== before);
};

beforeAll(async () => {
  viewer = await on.token('viewer');
  await on.app.listen({ host: '127.0.0.1', port: 0 });
  await on.database.networks.register({ id: 'main', chainId: 1 });
});
afterEach(async () => {
  for (const { leave } of pages) leave();
  await vi.waitUntil(async () => (await listeners()) === 0);
  wake();
  pages = [];
});

test('a page is told all rows, and then what changes', async () => {
  const { alarms } = on.database.network('main');
  await alarms.raise({ name: 'A', message: '<b>one</b>', data: {} });
  const page = await open();
  await vi.waitUntil(() => page.told.length === 1);
  await alarms.raise({ name: 'B', message: 'two', data: {} });
  await look();
  await look();
  const [{ raisedAt: second } = { raisedAt: new Date() }, { raisedAt: first } = { raisedAt: new Date() }] =
    await on.database.alarms.list();
  const [a, b] = [`main A ${first.getTime()}`, `main B ${second.getTime()}`];
  expect(page.told).toMatchObject([
    { event: 'alarms', data: { keys: [a], rows: { [a]: { message: '<b>one</b>' } } } },
    { event: 'alarms', data: { keys: [b, a], rows: { [b]: { message: 'two' } } } },
  ]);
  expect(Object.keys(page.told[1]?.data.rows as object)).toEqual([b]);
});

test('50 pages cost Postgres as much as one, and none costs nothing', async () => {
  const holders = await Promise.all(Array.from({ length: 50 }, () => on.token('viewer')));
  await Promise.all(holders.map((headers) => open(headers, 'overview,alarms,workers')));
  await look();
  await vi.waitUntil(() => pages.every(({ told }) => told.length === 3));
  const { database } = on;
  const statements = [
    vi.spyOn(database, 'standings'),
    vi.spyOn(database.workers, 'list'),
    vi.spyOn(database.quarantine, 'causes'),
    vi.spyOn(database.operators, 'holders'),
  ];
  await look();
  expect(statements.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1]);
  for (const { leave } of pages) leave();
  await vi.waitUntil(async () => (await listeners()) === 0);
  for (const statement of statements) statement.mockClear();
  wake();
  await new Promise(setImmediate);
  expect(statements.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0, 0]);
  for (const statement of statements) statement.mockRestore();
});

/** Counts the calls of everything that reads the database. */
function countReads(): { take(): string[]; restore(): void } {
  const parts = Object.values(on.database).filter((part) => typeof part === 'object' && part !== null);
  const spies = [on.database, ...parts].flatMap((part) =>
    Object.entries(part).flatMap(([name, value]) =>
      typeof value === 'function' && name !== 'network'
        ? [vi.spyOn(part as Record<string, () => unknown>, name)]
        : [],
    ),
  );
  return {
    take: () => {
      const names = spies.flatMap((spy) => spy.mock.calls.map(() => spy.getMockName()));
      for (const spy of spies) spy.mockClear();
      return names.sort();
    },
    restore: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

test('a screen in 50 sessions, or in 100 tabs of one, is read from Postgres once', async () => {
  const names = [
    'overview',
    'findings',
    'nodes?limit=1000',
    'backfills?limit=50',
    'alarms?cleared=false',
    'workers',
  ];
  const holders = await Promise.all(Array.from({ length: 50 }, () => on.token('viewer')));
  const reads = countReads();
  /** What pages read that ask at once, when no answer is shared any more and sessions are looked up again. */
  const costs = async (headers: readonly { authorization: string }[]): Promise<string[]> => {
    elapsed += 25_000;
    reads.take();
    const answers = await Promise.all(
      headers.flatMap((each) => names.map((name) => on.ask({ url: `/api/${name}`, headers: each }))),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    return reads.take();
  };
  const one = await costs([viewer]);
  expect(one.length).toBeGreaterThan(names.length);
  expect(await costs(Array.from({ length: 100 }, () => viewer))).toEqual(one);
  // A session that was not in use is looked up alone; those in use in one statement.
  await costs(holders);
  expect(await costs(holders)).toEqual(one);
  reads.restore();
});

test('a page hears when Postgres is away, and when it is back', async () => {
  const page = await open();
  await vi.waitUntil(() => page.told.length === 1);
  const away = new PackhouseError({ code: 'DATABASE_UNAVAILABLE', message: 'Postgres does not answer.' });
  const failing = vi.spyOn(on.database.alarms, 'list').mockRejectedValue(away);
  await look();
  await look();
  failing.mockRestore();
  await look();
  expect(page.told.slice(1)).toMatchObject([
    { event: 'heartbeat', data: { ageMs: 2_000, problem: { message: 'Postgres does not answer.' } } },
    { event: 'heartbeat', data: { ageMs: 0, problem: null } },
  ]);
});

test('a stream ends with its session, and a page that may not listen is refused', async () => {
  const holder = await on.token('viewer');
  const page = await open(holder);
  const other = await open();
  const { operators } = on.database;
  const newest = (await operators.list()).sort((a, b) => b.id - a.id)[0];
  await operators.remove(newest?.name ?? '');
  await look();
  await vi.waitUntil(() => page.ended);
  expect(page.told.at(-1)?.event).toBe('ended');
  expect(other.ended).toBe(false);
  expect((await open(holder)).status).toBe(401);
  expect((await open(viewer, 'alarms,secrets')).status).toBe(400);
});

test('so many pages may listen, of a session, an operator and the console, and all streams end with it', async () => {
  const own = await on.token('viewer');
  await Promise.all(Array.from({ length: 4 }, () => open(own)));
  const fifth = await open(own);
  expect([fifth.status, fifth.retryAfter]).toEqual([429, '10']);
  pages[0]?.leave();
  await vi.waitUntil(async () => (await listeners()) === 3);
  expect((await open(own)).status).toBe(200);

  const { operators } = on.database;
  const one = await operators.add({ name: 'of many sessions', role: 'viewer', password: null });
  const seal = await operators.seal();
  const tokens = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const token = makeSecret(seal);
      const secret = { kind: 'token', operatorId: one?.id ?? 0, keyId: null, role: 'viewer' } as const;
      await operators.keep({ sha256: getHash(token), ...secret, forMs: 3_600_000 });
      return { authorization: `Bearer ${token}` };
    }),
  );
  for (const headers of tokens) {
    const opened = await Promise.all(Array.from({ length: 4 }, () => open(headers)));
    const status = headers === tokens[5] ? 429 : 200;
    expect(opened.map((page) => page.status)).toEqual([status, status, status, status]);
  }

  const others = await Promise.all(Array.from({ length: 44 }, () => on.token('viewer')));
  await Promise.all(others.flatMap((headers) => Array.from({ length: 4 }, () => open(headers))));
  expect(await listeners()).toBe(200);
  expect((await open()).status).toBe(429);
  await on.app.close();
  await vi.waitUntil(() => pages.every(({ ended, left, status }) => ended || left || status !== 200));
});
