import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Schema } from '@packhouse/rows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSink } from './open-sink.js';
import type { Sink } from './sink.js';
import { JSONL } from './text-rows.js';

const run = promisify(execFile);
const schema: Schema = {
  name: 'logs-1',
  kind: 'logs',
  columns: [{ name: 'block_number', type: 'BIGINT', required: true }],
};
const origin = { base: 'http://localhost/ethereum/v1/', kind: 'logs', schema: 'logs-1', match: {} } as const;

/** Python that prints the sum of the column of a folder, as each library opens a folder. */
const READERS: Readonly<Record<string, readonly [modules: string, lines: string]>> = {
  polars: ['polars', 'print(polars.scan_parquet(at).select("block_number").sum().collect().item())'],
  pandas: ['pandas, pyarrow', 'print(pandas.read_parquet(at).block_number.sum())'],
  pyarrow: [
    'pyarrow.dataset',
    'print(sum(pyarrow.dataset.dataset(at).to_table()["block_number"].to_pylist()))',
  ],
  Spark: [
    'pyspark.sql',
    `spark = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(spark.read.parquet(at).agg({"block_number": "sum"}).first()[0])`,
  ],
};

describe.each([undefined, 25])('a folder of Parquet files, in partitions of %s blocks,', (partition) => {
  let work: string;
  let folder: string;
  let sink: Sink;

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), 'packhouse-readers-'));
    folder = path.join(work, 'rows');
    const target = { format: 'parquet', folder, partition } as const;
    sink = await openSink(target, { schema, origin, network: 'ethereum' });
    for (const firstBlock of [0, 25]) {
      const numbers = Array.from({ length: 25 }, (_, i) => firstBlock + i);
      await sink.write({ rows: 25, columns: { block_number: numbers } });
      await sink.commit({ firstBlock, lastBlock: firstBlock + 24 });
    }
    // Rows that are not committed: the pull was killed here.
    await sink.write({ rows: 1, columns: { block_number: [50] } });
  });
  afterAll(async () => {
    await sink.close();
    await rm(work, { recursive: true, force: true });
  });

  test('has files of rows and nothing else', async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files.sort()).toEqual([
      'logs-0000000000-0000000024.parquet',
      'logs-0000000025-0000000049.parquet',
    ]);
  });

  for (const [library, [modules, lines]] of Object.entries(READERS)) {
    const needs = modules.replace('pyarrow.dataset', 'pyarrow').replace('pyspark.sql', 'pyspark');
    const installed = spawnSync('python3', ['-c', `import ${modules}`]).status === 0;
    test.skipIf(!installed)(`is opened by ${library} as it is (needs ${needs})`, async () => {
      const script = `import sys, ${modules}\nat = sys.argv[1]\n${lines}`;
      const { stdout } = await run('python3', ['-c', script, folder]);
      expect(stdout.trim()).toBe('1225');
    });
  }
});

/** Python that prints the values, and the doubles beside them as the text of each, as each library reads JSON lines. */
const LINE_READERS: Readonly<Record<string, string>> = {
  pandas: `frame = pandas.read_json(at, lines=True, dtype=False)
rows = zip(frame["value"], frame["value_double"])`,
  polars: 'rows = polars.read_ndjson(at).select("value", "value_double").rows()',
  duckdb: 'rows = duckdb.sql(f"SELECT value, value_double FROM read_json(\'{at}\')").fetchall()',
};

describe('JSON lines with values beyond 64 bits behind many small ones', () => {
  const large = [
    0n,
    2n ** 53n + 1n,
    2n ** 63n,
    2n ** 64n,
    123_456_789_012_345_678_901n,
    10n ** 21n,
    10n ** 38n - 1n,
  ];
  const values = new Array<bigint>(25_000).fill(5n).concat(large);
  const spec: Schema = {
    name: 'transactions-2',
    kind: 'transactions',
    columns: [
      { name: 'value', type: 'DECIMAL(38,0)' },
      { name: 'value_double', type: 'DOUBLE' },
    ],
  };
  for (const [library, lines] of Object.entries(LINE_READERS)) {
    const installed = spawnSync('python3', ['-c', `import ${library}`]).status === 0;
    test.skipIf(!installed)(`are read by ${library}, exact and rounded (needs ${library})`, async () => {
      const work = await mkdtemp(path.join(tmpdir(), 'packhouse-lines-'));
      try {
        const at = path.join(work, 'rows.jsonl');
        const columns = { value: values, value_double: values.map(Number) };
        await writeFile(at, JSONL.rows(spec, { rows: values.length, columns }));
        const script = `import sys, ${library}\nat = sys.argv[1]\n${lines}\nfor a, b in list(rows)[-7:]: print(a, float(b))`;
        const { stdout } = await run('python3', ['-c', script, at]);
        const read = stdout
          .trim()
          .split('\n')
          .map((line) => line.split(' '));
        expect(read.map(([exact]) => exact)).toEqual(large.map(String));
        for (const [at, [, double]] of read.entries()) {
          const value = Number(large[at]);
          // pandas rounds the last digit of a double in its own way.
          expect(Math.abs(Number(double) - value)).toBeLessThanOrEqual(value * 4 * Number.EPSILON);
        }
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    });
  }
});
