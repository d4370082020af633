import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KINDS, TABLES } from '@packhouse/chain';
import type { Scope } from '@packhouse/local';
import { getOutput, processTree, startService } from '@packhouse/rig';
import pg from 'pg';
import type { BenchOptions } from './options.js';
import { endedChildrenSeconds } from './processes.js';
import { type Published, startPublished, startPull } from './published.js';
import type { BenchOutcome } from './result.js';
import { type Sample, samples } from './sample.js';

const POLL_MS = 200;
const GOAL_BYTES = 1e9;

/** All tables of the lake, written by a packer that has nothing else to do, beside `pull --format parquet` of all kinds. */
export async function benchLake({ scope, say, blocks }: BenchOptions): Promise<BenchOutcome[]> {
  const sample = samples().at(-1) as Sample;
  const published = await startPublished(scope, sample, blocks, KINDS);
  say(`  ${sample.name}: ${blocks} blocks of all kinds published`);
  const pull = await cpuOf(() => pullAll(scope, published));
  const { peakBytes, seconds, ...lake } = await writeTables(scope, published, blocks);
  const note = `${blocks} blocks of ${sample.name}; CPU of the whole program, its start included`;
  return [
    {
      name: 'tables of the lake',
      value: blocks / lake.cpu,
      unit: 'blocks per second of CPU',
      yardstick: { name: 'pull --format parquet', value: blocks / pull, unit: 'blocks per second of CPU' },
      target: 'at least 200 %',
      met: pull / lake.cpu >= 2,
      note: `${note}; the lake has transfers too, and writes small files first`,
      data: { ...lake, pull, seconds },
    },
    { name: 'tables of the lake', value: blocks / seconds, unit: 'blocks/s', note },
    {
      name: 'memory of the packer',
      value: peakBytes / 1e6,
      unit: 'MB',
      target: 'less than 1 GB',
      met: peakBytes < GOAL_BYTES,
      note,
    },
  ];
}

/** CPU seconds of the programs that `run` starts and ends. */
async function cpuOf(run: () => Promise<unknown>): Promise<number> {
  const before = endedChildrenSeconds() ?? Number.NaN;
  await run();
  return (endedChildrenSeconds() ?? Number.NaN) - before;
}

async function pullAll(scope: Scope, published: Published): Promise<void> {
  const cwd = path.join(published.directory, 'pulled');
  await mkdir(cwd);
  const args = ['--kinds', 'all', '--format', 'parquet', '--out', '.'];
  await getOutput(startPull(scope, published, args, cwd));
}

interface Written {
  cpu: number;
  /** From the start of the packer to the last table. */
  seconds: number;
  peakBytes: number;
  /** Bytes of the data files. */
  bytes: number;
}

/** Starts a packer with LAKE=on, and ends it once every table has every block. */
async function writeTables(
  scope: Scope,
  { databaseUrl, directory }: Published,
  blocks: number,
): Promise<Written> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  let [peakBytes, bytes, seconds] = [0, 0, 0];
  const env = {
    DATABASE_URL: databaseUrl,
    NETWORKS_FILE: path.join(directory, 'networks.json'),
    OBJECT_STORE: path.join(directory, 'objects'),
    SIGNING_KEY_FILE: path.join(directory, 'signing-key.pem'),
    LOG_LEVEL: 'warn',
    LAKE: 'on',
  };
  const cpu = await cpuOf(async () => {
    const startedAt = performance.now();
    const packer = startService('packer', env, { scope });
    for (let tables = 0; tables < TABLES.length; ) {
      if (packer.child.exitCode !== null) throw new Error(`the packer ended with ${packer.child.exitCode}`);
      await sleep(POLL_MS);
      const { rows } = await pool.query<{ bytes: string }>(
        `SELECT sum(byte_length) AS bytes FROM packhouse.lake_file
         WHERE removed_snapshot IS NULL GROUP BY kind HAVING sum(last_block - first_block + 1) = $1`,
        [blocks],
      );
      tables = rows.length;
      bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
    }
    seconds = (performance.now() - startedAt) / 1_000;
    peakBytes = Math.max(...processTree(packer.pid).map((each) => each.peakBytes));
    await packer.stop();
  });
  await pool.end();
  return { cpu, seconds, peakBytes, bytes };
}
