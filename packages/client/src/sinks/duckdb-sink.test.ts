import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Column, RowBatch, Schema } from '@packhouse/rows';
import { toSchema } from '@packhouse/rows';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDuckDb, openDuckDbSink } from './duckdb-sink.js';
import type { RowOrigin } from './sink.js';

/** Whether @duckdb/node-api is installed, here or in NODE_PATH. */
const HAS_DUCKDB = ((): boolean => {
  try {
    return loadDuckDb() !== null;
  } catch {
    return false;
  }
})();

const logs = toSchema('logs');
const schema: Schema = {
  ...logs,
  name: 'logs-1+abi',
  columns: [...logs.columns, { name: 'arg_$v', type: 'DECIMAL(38,0)' }, { name: 'arg_s', type: 'TEXT' }],
};
const origin: RowOrigin = { base: 'https://x/ethereum/v1/', kind: 'logs', schema: schema.name, match: {} };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-duckdb-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));
const getFile = (): string => path.join(folder, 'logs.duckdb');
const open = (options = { schema, origin }) =>
  openDuckDbSink({ file: getFile(), table: 'logs' }, { ...options, network: 'ethereum' });

async function query(sql: string): Promise<unknown[][]> {
  const instance = await loadDuckDb().DuckDBInstance.create(getFile(), {});
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRows();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Logs of blocks, one each. */
function toBatch(start: number, end: number): RowBatch {
  const rows = end - start + 1;
  const columns: Record<string, Column> = {};
  for (const { name } of schema.columns) columns[name] = new Array<null>(rows).fill(null);
  const each = (name: string, value: (row: number) => Column[number]): void => {
    columns[name] = Array.from({ length: rows }, (_, row) => value(row));
  };
  each('block_number', (row) => start + row);
  for (const name of ['block_hash', 'transaction_hash', 'address', 'data']) each(name, () => '0xab');
  for (const name of ['transaction_index', 'log_index']) each(name, () => 7);
  each('removed', () => false);
  each('chain_id', () => 1);
  each('block_timestamp', () => 1_689_269_827);
  each('arg_$v', () => 10n ** 38n - 1n);
  each('arg_s', () => 'a\t"é\n');
  each('extra', () => '{"l1":["0x1"]}');
  return { rows, columns };
}

it.skipIf(HAS_DUCKDB)('without DuckDB it says how to install it (needs no @duckdb/node-api)', async () => {
  await expect(open()).rejects.toMatchObject({
    code: 'USAGE',
    message: 'DuckDB is not installed beside packhouse.',
    hint: expect.stringContaining('npm install @duckdb/node-api'),
  });
});

describe.skipIf(!HAS_DUCKDB)('a DuckDB file (needs test/clients/libraries)', () => {
  it('has bytes in place of text where that is asked for', async () => {
    const bytes = toSchema('logs', { bytes: true });
    const sink = await open({ schema: bytes, origin: { ...origin, schema: bytes.name } });
    await sink.write(toBatch(1, 5_000));
    await sink.commit({ firstBlock: 1, lastBlock: 5_000 });
    await sink.close();
    const found = "SELECT count(*)::INT, any_value(typeof(address)) FROM logs WHERE address = '\\xAB'::BLOB";
    expect(await query(found)).toEqual([[5_000, 'BLOB']]);
  });

  it('has the values of the rows', async () => {
    const sink = await open();
    await sink.write(toBatch(1, 5_000));
    await sink.commit({ firstBlock: 1, lastBlock: 5_000 });
    await sink.close();
    const columns = `count(*)::INT, sum(block_number)::INT, min(block_timestamp)::VARCHAR, min("arg_$v")::VARCHAR,
      min(arg_s), min(extra->'l1'->>0), min(topic0), bool_or(removed), count(topic0)::INT`;
    expect(await query(`SELECT ${columns} FROM logs`)).toEqual([
      [5_000, 12_502_500, '2023-07-13 17:37:07', '9'.repeat(38), 'a\t"é\n', '0x1', null, false, 0],
    ]);
  });

  it('keeps rows and their blocks together, and continues after the last commit', async () => {
    const first = await open();
    await first.write(toBatch(0, 9));
    await first.commit({ firstBlock: 0, lastBlock: 9 });
    await first.write(toBatch(10, 19));
    await first.close();
    const second = await open();
    expect(second.state).toMatchObject({ done: [{ firstBlock: 0, lastBlock: 9 }], rows: 10 });
    await second.write(toBatch(10, 19));
    await second.commit({ firstBlock: 10, lastBlock: 19 });
    await second.commit({ firstBlock: 20, lastBlock: 29 });
    await second.close();
    expect(await query('SELECT count(*)::INT, count(DISTINCT block_number)::INT FROM logs')).toEqual([
      [20, 20],
    ]);
    const third = await open();
    expect(third.state.done).toEqual([{ firstBlock: 0, lastBlock: 29 }]);
    await third.close();
  });

  it('refuses rows of another schema, other columns, and a table that it did not make', async () => {
    await (await open()).close();
    const other = { schema: logs, origin: { ...origin, schema: logs.name } };
    const refused = (message: RegExp) => ({
      code: 'TARGET_MISMATCH',
      message: expect.stringMatching(message),
    });
    await expect(open(other)).rejects.toMatchObject(
      refused(/has rows of schema "logs-1\+abi"; this pull has "logs-2"/),
    );
    await query('ALTER TABLE logs ADD COLUMN note VARCHAR');
    await expect(open()).rejects.toMatchObject(refused(/has the columns .*note VARCHAR, expected/));
    await query("DELETE FROM packhouse_rows WHERE table_name = 'logs'");
    await expect(open()).rejects.toMatchObject(refused(/is not one that packhouse made/));
  });
});
