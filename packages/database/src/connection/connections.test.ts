import { createServer } from 'node:net';
import { startStallingProxy } from '@packhouse/local';
import { isPackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../create-database.js';
import { migrate } from '../schema/migrate.js';
import { makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase(2);
});
afterAll(() => open.close());

async function failure(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPackhouseError(error)) throw new Error(`expected one of our errors, got ${String(error)}`);
  return error;
}

async function at(connectionString: string) {
  const database = createDatabase({ connectionString, context: silentContext(), applicationName: 'test' });
  try {
    return {
      list: await failure(database.networks.list()),
      lock: await failure(database.tryLock('x')),
      migrate: await failure(migrate({ connectionString })),
      ping: await database.ping(),
    };
  } finally {
    await database.close();
  }
}

it('names the host and the way out when nobody listens, never the password', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const { ping, ...errors } = await at(`postgres://me:s3cret@127.0.0.1:${port}/packs`);
  expect(ping).toBe(false);
  for (const error of Object.values(errors)) {
    expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true });
    expect(error.message).toBe(
      `Postgres at 127.0.0.1:${port}/packs cannot be used: the connection was refused.`,
    );
    expect(JSON.stringify([error.message, error.hint, error.data])).not.toContain('s3cret');
  }
});

it('says that trying again is no use where the password or the database is wrong', async () => {
  const wrong = new URL(open.url);
  wrong.password = 'wr0ng-s3cret';
  const none = new URL(open.url);
  none.pathname = '/nothing_here';
  for (const url of [wrong, none]) {
    const { list, migrate: migrated } = await at(url.href);
    for (const error of [list, migrated]) {
      expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: false });
      expect(error.message).not.toContain('s3cret');
    }
  }
});

it('goes on by itself after all its connections were ended, idle ones and one at work', async () => {
  const { database } = open;
  await Promise.all([database.ping(), database.ping()]);
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'packhouse test'`;
  const asleep = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'packhouse test' AND wait_event_type = 'Lock'`;
  const holder = new pg.Client({ connectionString: open.url });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE packhouse.network');
  const working = failure(open.another().networks.list());
  while ((await open.sql(asleep)).length === 0);
  await open.sql(end);
  expect(await working).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true });
  await holder.query('COMMIT');
  await holder.end();
  await expect.poll(() => database.ping()).toBe(true);
  expect(await database.networks.list()).toHaveLength(1);
});

it('reports a server that has no connection left', async () => {
  const [row] = await open.sql<{ name: string }>('SELECT current_database() AS name');
  await open.sql(`CREATE ROLE few_${row!.name} LOGIN PASSWORD 'few' CONNECTION LIMIT 0`);
  try {
    const url = new URL(open.url);
    url.username = `few_${row!.name}`;
    url.password = 'few';
    const { list } = await at(url.href);
    expect(list).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true });
    expect(list.message).toContain('no connection left');
  } finally {
    await open.sql(`DROP ROLE few_${row!.name}`);
  }
});

it('keeps its connections when a run is refused, and holds no lock of it', async () => {
  await open.main.staging.stage(makeRun(0, 3));
  const pids = `SELECT count(DISTINCT pid)::int4 AS n FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle in transaction'`;
  for (let index = 0; index < 5; index += 1) {
    expect(await failure(open.main.staging.stage(makeRun(4, 4, { branch: 'b' })))).toMatchObject({
      code: 'STAGE_CONFLICT',
    });
  }
  expect(await open.sql(pids)).toEqual([{ n: 0 }]);
  expect(await open.main.staging.stage(makeRun(4, 4))).toEqual({ staged: true });
});

describe('a pool with limits, before a server that hangs', () => {
  it('fails what waits, gives its connections up, and goes on with new ones', async () => {
    const proxy = await startStallingProxy(open.url);
    const limited = createDatabase({
      connectionString: proxy.url,
      context: silentContext(),
      poolSize: 2,
      applicationName: 'limited',
      limits: { connectMs: 200, statementMs: 200 },
    });
    const pids = async () =>
      (await open.sql<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE application_name = 'limited'`))
        .map(({ pid }) => pid)
        .sort();
    try {
      const both = () => Promise.all([limited.networks.list(), limited.networks.list()]).catch(() => null);
      // On a busy machine a connection takes longer than it may.
      await expect.poll(both).not.toBeNull();
      const before = await pids();
      proxy.stall();
      const errors = await Promise.all([
        ...[1, 2, 3, 4, 5].map(() => failure(limited.networks.list())),
        failure(limited.network('main').head.setAnchor(null)),
        failure(limited.tryLock('stalled')),
      ]);
      for (const error of errors)
        expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true });
      proxy.resume();
      await expect.poll(() => limited.networks.list().catch(() => null)).toHaveLength(1);
      for (const pid of await pids()) expect(before).not.toContain(pid);
    } finally {
      await limited.close();
      await proxy.close();
    }
  });

  it('closes, though the server does not take leave', async () => {
    const proxy = await startStallingProxy(open.url);
    const database = createDatabase({
      connectionString: proxy.url,
      context: silentContext(),
      applicationName: 'leaving',
    });
    await database.networks.list();
    const lock = await database.tryLock('leaving');
    proxy.stall();
    await lock?.release();
    await database.close();
    await proxy.close();
  });

  it('has the server end a statement that takes too long', async () => {
    const limited = createDatabase({
      connectionString: open.url,
      context: silentContext(),
      applicationName: 'limited',
      limits: { connectMs: 2_000, statementMs: 200 },
    });
    const holder = new pg.Client({ connectionString: open.url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE packhouse.network');
    const error = await failure(limited.networks.list());
    expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true });
    expect(error.message).toContain('statement timeout');
    await holder.query('COMMIT');
    await holder.end();
    expect(await limited.networks.list()).toHaveLength(1);
    await limited.close();
  });
});

it('says no to a ping when all connections are busy for too long', async () => {
  const slow = createDatabase({
    connectionString: open.url,
    context: silentContext(),
    poolSize: 1,
    applicationName: 'slow',
  });
  const holder = new pg.Client({ connectionString: open.url });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE packhouse.network');
  const waiting = slow.networks.list();
  expect(await slow.ping()).toBe(false);
  await holder.query('COMMIT');
  await holder.end();
  await waiting;
  expect(await slow.ping()).toBe(true);
  await slow.close();
});
