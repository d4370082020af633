import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Schema } from '@packhouse/rows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSink } from './open-sink.js';
import type { Sink } from './sink.js';

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
