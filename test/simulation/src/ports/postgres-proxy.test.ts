import { freshDatabase } from '@packhouse/local';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createPostgresProxy, type PostgresProxy, type StatementFate } from './postgres-proxy.js';

describe('the proxy in front of Postgres', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let proxy: PostgresProxy;
  let fateOf: (sql: string) => StatementFate;
  let seen: string[];
  beforeEach(async () => {
    seen = [];
    fateOf = () => ({ do: 'pass' });
    database = await freshDatabase(inject('postgresUrl'));
    proxy = await createPostgresProxy({ port: Number(new URL(database.url).port) }, (sql) => {
      seen.push(sql);
      return fateOf(sql);
    });
    await direct('CREATE TABLE t (n int)');
  });
  afterEach(async () => {
    await proxy.close();
    await database.drop();
  });

  async function connect(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
  async function direct(sql: string): Promise<unknown[]> {
    const client = await connect(database.url);
    const { rows } = await client.query(sql);
    await client.end();
    return rows as unknown[];
  }
  function through(): Promise<pg.Client> {
    const address = new URL(database.url);
    address.port = String(proxy.port);
    return connect(address.href);
  }

  test('passes statements on, simple and prepared, and sees each once', async () => {
    const client = await through();
    await client.query('INSERT INTO t VALUES (1)');
    await client.query('INSERT INTO t VALUES ($1)', [2]);
    for (const n of [3, 4])
      await client.query({ name: 'named', text: 'INSERT INTO t VALUES ($1)', values: [n] });
    expect((await client.query('SELECT n FROM t ORDER BY n')).rows).toEqual([1, 2, 3, 4].map((n) => ({ n })));
    await client.end();
    // The second time a named statement is only bound.
    expect(seen).toEqual([
      'INSERT INTO t VALUES (1)',
      'INSERT INTO t VALUES ($1)',
      'INSERT INTO t VALUES ($1)',
      '',
      'SELECT n FROM t ORDER BY n',
    ]);
  });

  test.each(['INSERT INTO t VALUES (1)', 'INSERT INTO t SELECT $1::int'])(
    'cut before "%s", the server never hears of it',
    async (sql) => {
      fateOf = () => ({ do: 'cut', when: 'before' });
      const client = await through();
      await expect(client.query(sql, sql.includes('$1') ? [1] : undefined)).rejects.toThrow();
      expect(await direct('SELECT * FROM t')).toEqual([]);
    },
  );

  test('cut after a statement, it is done and the client does not know', async () => {
    fateOf = () => ({ do: 'cut', when: 'after' });
    const client = await through();
    await expect(client.query('INSERT INTO t VALUES ($1)', [1])).rejects.toThrow();
    await expect.poll(() => direct('SELECT * FROM t')).toEqual([{ n: 1 }]);
  });

  test('an error takes the place of a statement, and its transaction is undone', async () => {
    const client = await through();
    await client.query('BEGIN');
    await client.query('INSERT INTO t VALUES (1)');
    for (const sql of ['INSERT INTO t VALUES ($1)', 'INSERT INTO t VALUES (2)']) {
      fateOf = () => ({ do: 'error', code: '53100' });
      await expect(client.query(sql, sql.includes('$1') ? [2] : undefined)).rejects.toMatchObject({
        code: '53100',
      });
      fateOf = () => ({ do: 'pass' });
      await client.query('ROLLBACK');
      await client.query('BEGIN');
    }
    expect((await client.query('SELECT * FROM t')).rows).toEqual([]);
    await client.end();
  });
});
