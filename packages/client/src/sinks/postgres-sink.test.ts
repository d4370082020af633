import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import type { Column, RowBatch, Schema } from '@packhouse/rows';
import { toSchema } from '@packhouse/rows';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { openPostgresSink } from './postgres-table.js';
import type { RowOrigin } from './sink.js';

let database: FreshDatabase;
let client: pg.Client;
beforeEach(async () => {
  database = await freshDatabase(inject('postgresUrl'));
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

const logs = toSchema('logs');
const schema: Schema = {
  ...logs,
  name: 'logs-1+abi',
  columns: [...logs.columns, { name: 'arg_$v', type: 'DECIMAL(38,0)' }, { name: 'arg_s', type: 'TEXT' }],
};
const origin: RowOrigin = { base: 'https://x/ethereum/v1/', kind: 'logs', schema: schema.name, match: {} };
const open = (table = 'logs', options = { schema, origin }) =>
  openPostgresSink({ url: database.url, table }, { ...options, network: 'ethereum' });

/** Logs of blocks, two each. */
function toBatch(start: number, end: number): RowBatch {
  const rows = (end - start + 1) * 2;
  const columns: Record<string, Column> = {};
  for (const { name } of schema.columns) columns[name] = new Array<null>(rows).fill(null);
  const each = (name: string, value: (row: number) => Column[number]): void => {
    columns[name] = Array.from({ length: rows }, (_, row) => value(row));
  };
  each('block_number', (row) => start + Math.floor(row / 2));
  each('log_index', (row) => row % 2);
  for (const name of ['block_hash', 'transaction_hash', 'address', 'data']) each(name, () => '0xab');
  each('transaction_index', () => 0);
  each('removed', () => false);
  each('chain_id', () => 1);
  each('block_timestamp', () => 1_689_269_827);
  each('arg_$v', () => 10n ** 38n - 1n);
  each('arg_s', () => 'a\tb\\N\r\n"é\0');
  each('extra', () => '{"l1":"\\u0000\\\\"}');
  return { rows, columns };
}
const blocks = async (): Promise<string[]> => {
  const { rows } = await client.query<{ at: string }>(
    "SELECT block_number || ':' || log_index AS at FROM logs ORDER BY block_number, log_index",
  );
  return rows.map(({ at }) => at);
};
const expected = (start: number, end: number): string[] =>
  Array.from({ length: (end - start + 1) * 2 }, (_, i) => `${start + Math.floor(i / 2)}:${i % 2}`);

it('has the values of the rows', async () => {
  const sink = await open();
  await sink.write(toBatch(7, 7));
  await sink.commit({ firstBlock: 7, lastBlock: 7 });
  await sink.close();
  const { rows } = await client.query('SELECT *, block_timestamp::text AS time FROM logs LIMIT 1');
  expect(rows[0]).toMatchObject({
    block_number: '7',
    log_index: 0,
    removed: false,
    topic0: null,
    data: '0xab',
    time: '2023-07-13 17:37:07',
    arg_$v: '9'.repeat(38),
    arg_s: 'a\tb\\N\r\n"é\ufffd',
    extra: { l1: '\0\\' },
  });
});

it('has bytes in place of text where that is asked for, and refuses what is none', async () => {
  const bytes = toSchema('logs', { bytes: true });
  const options = { schema: bytes, origin: { ...origin, schema: bytes.name } };
  const sink = await open('logs_bytes', options);
  const batch = toBatch(7, 7);
  await sink.write(batch);
  await sink.commit({ firstBlock: 7, lastBlock: 7 });
  batch.columns.data = ['0xa', '0xab'];
  await expect(sink.write(batch)).rejects.toMatchObject({ code: 'RECORD_INVALID' });
  await sink.close();
  const { rows } = await client.query('SELECT * FROM logs_bytes LIMIT 1');
  expect(rows[0]).toMatchObject({ address: Buffer.of(0xab), data: Buffer.of(0xab), topic0: null });
});

it('keeps rows and their blocks together: what was not committed is gone, nothing is there twice', async () => {
  const first = await open();
  await first.write(toBatch(0, 4));
  await first.commit({ firstBlock: 0, lastBlock: 4 });
  await first.write(toBatch(5, 9));
  expect(await blocks()).toEqual(expected(0, 4));
  // As a kill would end it: the server undoes the open transaction.
  await first.close();

  const second = await open();
  expect(second.state).toMatchObject({ done: [{ firstBlock: 0, lastBlock: 4 }], rows: 10 });
  await second.write(toBatch(5, 6));
  await second.write(toBatch(7, 9));
  await second.commit({ firstBlock: 5, lastBlock: 9 });
  // Blocks without rows are done too.
  await second.commit({ firstBlock: 10, lastBlock: 19 });
  await second.close();
  expect(await blocks()).toEqual(expected(0, 9));
  const third = await open();
  expect(third.state).toMatchObject({ done: [{ firstBlock: 0, lastBlock: 19 }], rows: 20 });
  await third.close();
});

it('one pull at a time writes to a table', async () => {
  const sink = await open();
  await expect(open()).rejects.toMatchObject({ code: 'DATA_DIR_BUSY' });
  const other = await open('others');
  await other.close();
  await sink.close();
});

it('refuses rows of another match or schema, other columns, and a table that it did not make', async () => {
  await (await open()).close();
  const refused = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) });
  const match = { addresses: ['0xab'] };
  await expect(open('logs', { schema, origin: { ...origin, match } })).rejects.toMatchObject(
    refused(
      'TARGET_MISMATCH',
      /The table logs has rows of match \{\}; this pull has \{"addresses":\["0xab"\]\}/,
    ),
  );
  await client.query('ALTER TABLE logs ADD COLUMN note text');
  await expect(open()).rejects.toMatchObject(
    refused('TARGET_MISMATCH', /has the columns .*note text, expected/),
  );
  await client.query('CREATE TABLE mine (a int)');
  await expect(open('mine')).rejects.toMatchObject(
    refused('TARGET_MISMATCH', /is not one that packhouse made/),
  );
  const lost = openPostgresSink(
    { url: database.url.replace(/[^/]+$/, 'nowhere'), table: 'logs' },
    { schema, origin, network: 'x' },
  );
  await expect(lost).rejects.toMatchObject(refused('DATABASE_UNAVAILABLE', /Postgres cannot be used/));
});
