import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Client, createClient } from '../client/create-client.js';
import type { FollowRequest, FollowStep } from '../client/follow.js';
import { type FeedGateway, startFeedGateway } from '../testing/feed-gateway.js';
import { createPostgresSink } from './create-postgres-sink.js';
import type { PostgresFollowSink, PostgresSinkOptions } from './postgres-sink.js';

/** Runs of the test with random deaths. */
const RUNS = process.env.SEEDS === 'many' ? 60 : 2;

let database: FreshDatabase;
let pool: pg.Pool;
let feed: FeedGateway;
let client: Client;
beforeEach(async () => {
  database = await freshDatabase(inject('postgresUrl'));
  pool = new pg.Pool({ connectionString: database.url, application_name: 'sink' });
  pool.on('error', () => undefined);
  feed = await startFeedGateway(['logs', 'blocks']);
  client = createClient({ url: feed.gateway.url, apiKey: feed.gateway.apiKey });
});
afterEach(async () => {
  await client.close();
  await pool.end();
  for (const each of [feed.gateway, ...feed.gateway.others]) await each.close();
  await database.drop();
});

const open = (options: Partial<PostgresSinkOptions> = {}): Promise<PostgresFollowSink> =>
  createPostgresSink({ pool, table: 'logs', ...options });
const at =
  (block: number) =>
  (step: FollowStep): boolean =>
    step.step === 'blocks' && step.to >= block;

/** Follows into a sink until a step fits; returns the names of the steps. */
async function followUntil(
  sink: PostgresFollowSink,
  isLast: (step: FollowStep) => boolean,
  request: Partial<FollowRequest> = {},
): Promise<string[]> {
  const steps: string[] = [];
  for await (const step of client.follow({ kinds: ['logs'], from: 0, cursor: sink.cursor, ...request })) {
    await sink.write(step as FollowStep);
    steps.push(step.step);
    if (isLast(step as FollowStep)) break;
  }
  return steps;
}
/** Follows in a sink of its own. */
async function runUntil(isLast: (step: FollowStep) => boolean): Promise<void> {
  const sink = await open();
  await followUntil(sink, isLast);
  await sink.close();
}
const rows = async (table = 'logs'): Promise<string[]> => {
  const found = await pool.query<{ at: string }>(
    `SELECT block_number || ':' || block_hash || ':' || log_index AS at FROM ${table}
     ORDER BY block_number, log_index`,
  );
  return found.rows.map((row) => row.at);
};
const keyOf = async (table: string): Promise<string | undefined> =>
  (
    await pool.query<{ key: string }>(
      `SELECT pg_get_constraintdef(oid) AS key FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'p'`,
      [table],
    )
  ).rows[0]?.key;

it('loads history without constraints, makes them before the first new block, and follows', async () => {
  feed.mine(40);
  for (let n = 0; n < 5; n += 1) feed.pack('logs', 6);
  const loaded: number[] = [];
  const sink = await open({ onLoaded: (count) => loaded.push(count) });
  let beside: [boolean, string | undefined] | undefined;
  for await (const step of client.follow({ kinds: ['logs'], from: 0 })) {
    await sink.write(step);
    if (step.step === 'blocks' && step.to === 29) beside = [sink.loading, await keyOf('logs')];
    if (at(40)(step)) break;
  }
  expect(beside).toEqual([true, undefined]);
  expect([sink.loading, await keyOf('logs')]).toEqual([
    false,
    'PRIMARY KEY (block_number, transaction_index, log_index)',
  ]);
  expect(loaded).toHaveLength(1);
  expect(await rows()).toEqual(feed.logs());
  expect(sink.rows).toBe(feed.logs().length);
  await sink.close();
});

it('has rows of several kinds at the same block, and undoes them together', async () => {
  feed.mine(20);
  feed.pack('logs', 8);
  feed.pack('blocks', 5);
  const sink = await open({ tables: { blocks: 'chain.blocks' }, table: 'logs' }).catch(
    (error: unknown) => error,
  );
  expect(sink).toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    message: expect.stringMatching(/schema "chain" does not exist/),
  });
  await pool.query('CREATE SCHEMA chain');
  const both = await open({ tables: { blocks: 'chain.blocks' } });
  const kinds = { kinds: ['blocks', 'logs'] as const };
  await followUntil(both, at(20), kinds);
  feed.reorganise(6);
  await followUntil(both, at(21), kinds);
  expect(await rows()).toEqual(feed.logs());
  const blocks = await pool.query<{ block_hash: string }>(
    'SELECT block_hash FROM chain.blocks ORDER BY block_number',
  );
  expect(blocks.rows.map(({ block_hash }) => block_hash)).toEqual(feed.chain.map(({ hash }) => hash));
  await both.close();
});

it('undoes 64 blocks that were replaced while it was away', async () => {
  feed.mine(70);
  await runUntil(at(70));
  feed.reorganise(64);
  await runUntil(at(71));
  expect(await rows()).toEqual(feed.logs());
});

it('replaces the rows of a file that was published again, in one transaction, and never those of others', async () => {
  feed.mine(30);
  feed.pack('logs', 10);
  feed.pack('logs', 10);
  const sink = await open();
  await followUntil(sink, at(30), { from: 4 });
  feed.repair('logs', 0);
  feed.repair('logs', 10);
  let repairs = 0;
  const countRepairs = ({ step }: FollowStep): boolean => {
    if (step === 'repaired') repairs += 1;
    return repairs === 2;
  };
  await followUntil(sink, countRepairs);
  expect(await rows()).toEqual(feed.logs().filter((row) => Number(row.split(':')[0]) >= 4));
  expect(sink.replaced).toEqual([
    { from: 4, to: 9 },
    { from: 10, to: 19 },
  ]);
  await sink.close();
});

it('has columns of an ABI, and bytes where that is asked for', async () => {
  feed.mine(12);
  const abi = ['event Transfer(address indexed from, address indexed to, uint256 value)'];
  const sink = await open({ abi, bytes: true });
  await followUntil(sink, at(12));
  feed.reorganise(2);
  await followUntil(sink, at(13));
  const found = await pool.query(
    'SELECT event, arg_value, address FROM logs ORDER BY block_number, log_index',
  );
  expect(found.rows).toHaveLength(feed.logs().length);
  for (const row of found.rows) {
    expect(row).toMatchObject({
      event: 'Transfer',
      address: expect.any(Buffer),
      arg_value: expect.stringMatching(/^[012]$/),
    });
  }
  await sink.close();
});

it('never downloads history twice, however often it is stopped', async () => {
  feed.mine(60);
  for (let n = 0; n < 10; n += 1) feed.pack('logs', 6);
  for (let n = 1; n <= 10; n += 1) {
    const sink = await open();
    await followUntil(sink, at(6 * n - 1));
    await sink.close();
  }
  await runUntil(at(60));
  expect(await rows()).toEqual(feed.logs());
  const files = feed.downloads().filter((path) => /\/files\/logs\//.test(path));
  // What was downloaded ahead of a stop, and not taken, is the only thing that comes again.
  const before = files.length;
  const sink = await open();
  await followUntil(sink, ({ step }) => step === 'waiting');
  await sink.close();
  expect(feed.downloads().filter((path) => /\/files\/logs\//.test(path)).length).toBe(before);
});

describe('is exactly once', () => {
  const random = (seed: number) => {
    let state = seed + 1;
    return (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
  };
  /** One random thing happens to the chain. */
  const happen = (pick: (below: number) => number, packedTo: { logs: number }): void => {
    const head = feed.chain.length - 1;
    const what = pick(6);
    if (what < 2) feed.mine(1 + pick(5));
    else if (what === 2) {
      const depth = Math.min(1 + pick(8), head - packedTo.logs - 1);
      if (depth > 0) feed.reorganise(depth);
    } else if (what === 3 && head - packedTo.logs > 12) {
      feed.pack('logs', 5);
      packedTo.logs += 5;
    } else if (what === 4 && packedTo.logs >= 4) feed.repair('logs', packedTo.logs - 4);
  };

  it.each(Array.from({ length: RUNS }, (_, seed) => [seed]))(
    'whatever dies when, in run %i',
    { timeout: 120_000 },
    async (seed) => {
      const pick = random(seed);
      const packedTo = { logs: -1 };
      feed.mine(20 + pick(30));
      for (let n = 0; n < 2 + pick(3); n += 1) {
        feed.pack('logs', 5);
        packedTo.logs += 5;
      }
      let deaths = 0;
      for (let session = 0; session < 6; session += 1) {
        const own = new pg.Pool({ connectionString: database.url, application_name: `victim ${session}` });
        own.on('error', () => undefined);
        let left = 1 + pick(25);
        // Postgres, or the connection, goes away within a statement; or the process is gone between two.
        const within = pick(3);
        const killer =
          within === 0
            ? setTimeout(() => {
                void pool.query(
                  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
                  [`victim ${session}`],
                );
              }, pick(60))
            : undefined;
        try {
          const sink = await createPostgresSink({ pool: own, table: 'logs' });
          try {
            for await (const step of client.follow({ kinds: ['logs'], from: 0, cursor: sink.cursor })) {
              await sink.write(step);
              if (step.step === 'final') await expectUpTo(step.block);
              if (pick(4) === 0) happen(pick, packedTo);
              if (step.step === 'waiting') feed.mine(1);
              left -= 1;
              if (left === 0) break;
            }
            if (within === 1) await sink.close();
            else
              await pool.query(
                'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
                [`victim ${session}`],
              );
          } finally {
            await sink.close().catch(() => undefined);
          }
        } catch (error) {
          expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
          deaths += 1;
        }
        clearTimeout(killer);
        await own.end();
        // A backend holds its locks until it has noticed its end.
        const alive = 'SELECT pid FROM pg_stat_activity WHERE application_name = $1';
        await expect
          .poll(async () => (await pool.query(alive, [`victim ${session}`])).rowCount, { timeout: 60_000 })
          .toBe(0);
      }
      await runUntil((step) => step.step === 'waiting' && step.block === feed.chain.length);
      expect(await rows()).toEqual(feed.logs());
      expect(deaths).toBeLessThan(6);
    },
  );

  /** Rows at or below a final block never change but by a repair. */
  async function expectUpTo(block: number): Promise<void> {
    const found = await rows();
    expect(new Set(found).size).toBe(found.length);
    const short = (list: string[]): string[] => [
      ...new Set(
        list
          .filter((row) => Number(row.split(':')[0]) <= block)
          .map((row) => row.split(':').slice(0, 2).join(':')),
      ),
    ];
    // Blocks that have a log by both: a repair that is not delivered yet takes one away.
    for (const row of short(feed.logs())) expect(short(found)).toContain(row);
  }
});

describe('refuses', () => {
  const refused = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) });

  it('a second sink, however the table is named, and a pull', async () => {
    const sink = await open();
    await expect(open()).rejects.toMatchObject(
      refused('DATA_DIR_BUSY', /Another pull or follower writes to the table logs/),
    );
    await expect(open({ table: 'public.logs' })).rejects.toMatchObject(
      refused('DATA_DIR_BUSY', /public\.logs/),
    );
    await sink.close();
    await (await open()).close();
  });

  it('rows of other kinds, accounts or networks, other columns, and a table that it did not make', async () => {
    feed.mine(5);
    await runUntil(at(5));
    const other = await open();
    const address = `0x${'2'.repeat(40)}`;
    await expect(followUntil(other, at(6), { address })).rejects.toMatchObject(
      refused('TARGET_MISMATCH', /The table logs has rows of match \{\}; this follower has \{"addresses"/),
    );
    await other.close();
    const kinds = await open();
    await expect(followUntil(kinds, at(6), { kinds: ['blocks'], cursor: null })).rejects.toMatchObject({
      code: expect.stringMatching(/USAGE|TARGET_MISMATCH/),
    });
    await kinds.close();
    await pool.query('ALTER TABLE logs ADD COLUMN note text');
    await expect(open()).rejects.toMatchObject(refused('TARGET_MISMATCH', /note text, expected/));
    await pool.query('CREATE TABLE mine (a int)');
    await expect(open({ table: 'mine' })).rejects.toMatchObject(
      refused('TARGET_MISMATCH', /is not one that packhouse made/),
    );
    await expect(open({ table: undefined, tables: {} })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('one of two tables that was dropped', async () => {
    feed.mine(5);
    const both = { tables: { blocks: 'blocks' } };
    const sink = await open(both);
    await followUntil(sink, at(5), { kinds: ['blocks', 'logs'] });
    await sink.close();
    await pool.query('DROP TABLE blocks');
    await expect(open(both)).rejects.toMatchObject(
      refused('TARGET_MISMATCH', /does not stand where the table .* stands: one of them was dropped/),
    );
  });

  /** Mines until the newest block has logs. */
  const mineLogs = (): number => {
    do feed.mine(1);
    while (!feed.logs().some((row) => row.startsWith(`${feed.chain.length - 1}:`)));
    return feed.chain.length - 1;
  };

  it.each([
    ['dropped', 'DROP TABLE logs', /dropped by somebody else: relation "logs" does not exist/],
    ['changed', 'ALTER TABLE logs DROP COLUMN data', /somebody else: column "data"/],
    ['filled', 'TRUNCATE packhouse_rows', /was followed by somebody else meanwhile/],
    [
      'given a row of a block that comes later',
      "INSERT INTO logs SELECT HEAD, '0x', null, 0, '0x', 0, '0x', null, null, null, null, '0x', false, 1, null FROM generate_series(1, 1)",
      /duplicate key|Key \(block_number/,
    ],
  ])('a table that is %s while it follows', async (_, sql, message) => {
    feed.mine(5);
    const sink = await open();
    await followUntil(sink, at(5));
    const head = mineLogs();
    await pool.query(sql.replace('HEAD', String(head)));
    const failed = await followUntil(sink, at(head)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(PackhouseError);
    expect(failed).toMatchObject(refused('TARGET_MISMATCH', message));
    await sink.close();
  });

  it('to go on if Postgres is away, and goes on where it was with another connection', async () => {
    feed.mine(9);
    const sink = await open();
    await followUntil(sink, at(9));
    await pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sink' AND pid <> pg_backend_pid()",
    );
    feed.mine(3);
    await expect(followUntil(sink, at(12))).rejects.toMatchObject(
      refused('DATABASE_UNAVAILABLE', /Postgres cannot be used for the table/),
    );
    await sink.close();
    await runUntil(at(12));
    expect(await rows()).toEqual(feed.logs());
  });
});
