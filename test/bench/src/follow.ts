import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { KINDS } from '@packhouse/chain';
import { createClient, createPostgresSink, type FollowStep } from '@packhouse/client';
import { runSql, type Scope } from '@packhouse/local';
import { getOutput, median } from '@packhouse/rig';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { BenchOptions } from './options.js';
import { type Published, startPublished, startPull } from './published.js';
import type { BenchOutcome } from './result.js';
import { type Sample, samples } from './sample.js';

const ROUNDS = 3;
const SHARE = 0.7;
const LOGS_PER_SECOND = 150_000;
/** Bytes of a raw COPY that are written at a time, as the sink does. */
const PIECE = 1_048_576;

/**
 * A Postgres that is filled from a feed: all kinds by `pull --follow` against `pull`, and the sink of logs against a raw
 * binary COPY of the same rows into the same kind of table.
 */
export async function benchFollow({ scope, say, blocks }: BenchOptions): Promise<BenchOutcome[]> {
  const sample = samples().at(-1) as Sample;
  const gateway = await startPublished(scope, sample, blocks, KINDS);
  say(`  ${sample.name}: ${blocks} blocks of all kinds published`);
  await runSql(gateway.databaseUrl, 'CREATE DATABASE tables');
  const url = gateway.databaseUrl.replace(/[^/]*$/, 'tables');
  return [await follows(scope, gateway, sample, url, blocks), ...(await sinks(gateway, sample, url, say))];
}

/** The whole of both commands, from their start to the head. */
async function follows(
  scope: Scope,
  published: Published,
  sample: Sample,
  url: string,
  blocks: number,
): Promise<BenchOutcome> {
  const args = ['--kinds', 'all', '--format', url];
  const seconds = { pull: [] as number[], follow: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const way of ['pull', 'follow'] as const) {
      await dropTables(url);
      const startedAt = performance.now();
      const more = way === 'follow' ? ['--follow'] : [];
      const program = startPull(scope, published, [...args, ...more]);
      if (way === 'pull') await getOutput(program);
      else await program.event('waiting');
      // The first round warms the gateway.
      if (round > 0) seconds[way].push((performance.now() - startedAt) / 1_000);
      await program.stop();
    }
  }
  const speed = (way: keyof typeof seconds): number => blocks / median(seconds[way]);
  return {
    name: 'pull --follow of all kinds into Postgres',
    value: speed('follow'),
    unit: 'blocks/s',
    yardstick: { name: 'packhouse pull of the same', value: speed('pull'), unit: 'blocks/s' },
    target: 'at least 100 %',
    met: speed('follow') >= speed('pull'),
    note: `${blocks} blocks of ${sample.name}, gateway, Postgres and client on this machine; median of ${ROUNDS} rounds, starts of the programs included; follow also checks parent links and makes keys and indexes`,
    data: seconds,
  };
}

async function dropTables(url: string): Promise<void> {
  await runSql(url, `DROP TABLE IF EXISTS packhouse_rows, raw, ${KINDS.join(', ')}`);
}

async function sinks(
  { url: gateway, apiKey }: Published,
  sample: Sample,
  url: string,
  say: BenchOptions['say'],
): Promise<BenchOutcome[]> {
  const client = createClient({ url: `${gateway}/ethereum`, apiKey });
  const steps: FollowStep[] = [];
  for await (const step of client.follow({ kinds: ['logs'] })) {
    steps.push(step as FollowStep);
    if (step.step === 'waiting') break;
  }
  await client.close();
  const rows = steps.reduce(
    (sum, step) => sum + (step.step === 'blocks' ? (step.tables[0]?.rows ?? 0) : 0),
    0,
  );
  say(`  ${rows} logs in memory`);
  const seconds = { sink: [] as number[], load: [] as number[], raw: [] as number[] };
  const pool = new pg.Pool({ connectionString: url });
  for (let round = 0; round <= ROUNDS; round += 1) {
    await dropTables(url);
    const startedAt = performance.now();
    const sink = await createPostgresSink({ pool, table: 'logs' });
    for (const step of steps.slice(0, -1)) await sink.write(step);
    const loadedAt = performance.now();
    // The feed has no more: the key is made.
    await sink.write({ ...(steps.at(-1) as FollowStep), reason: 'not-produced' } as FollowStep);
    const endedAt = performance.now();
    await sink.close();
    const raw = await rawCopy(pool);
    if (round === 0) continue;
    seconds.load.push((loadedAt - startedAt) / 1_000);
    seconds.sink.push((endedAt - startedAt) / 1_000);
    seconds.raw.push(raw);
  }
  await pool.end();
  const speed = (way: keyof typeof seconds): number => rows / median(seconds[way]);
  const note = `${rows} logs of ${sample.name} in memory as client.follow has them; client and Postgres on this machine; median of ${ROUNDS} rounds`;
  return [
    {
      name: 'Postgres sink, logs',
      value: speed('load'),
      unit: 'logs/s',
      yardstick: { name: 'a raw binary COPY of the same rows', value: speed('raw'), unit: 'logs/s' },
      target: `at least ${SHARE * 100} %`,
      met: speed('load') >= SHARE * speed('raw'),
      note,
      data: seconds,
    },
    {
      name: 'Postgres sink, logs, with the key made afterwards',
      value: speed('sink'),
      unit: 'logs/s',
      target: `at least ${LOGS_PER_SECOND.toLocaleString('en-US')} logs/s`,
      met: speed('sink') >= LOGS_PER_SECOND,
    },
  ];
}

/** The seconds of a COPY of the rows of `logs`, which are in memory, into a table like it. */
async function rawCopy(pool: pg.Pool): Promise<number> {
  const client = await pool.connect();
  try {
    const pieces: Buffer[] = [];
    for await (const piece of client.query(copyTo('COPY logs TO STDOUT (FORMAT binary)'))) {
      pieces.push(piece as Buffer);
    }
    const all = Buffer.concat(pieces);
    await client.query('CREATE TABLE raw (LIKE logs)');
    const startedAt = performance.now();
    const stream = client.query(copyFrom('COPY raw FROM STDIN (FORMAT binary)'));
    for (let at = 0; at < all.length; at += PIECE) {
      if (!stream.write(all.subarray(at, at + PIECE))) await once(stream, 'drain');
    }
    stream.end();
    await finished(stream);
    return (performance.now() - startedAt) / 1_000;
  } finally {
    client.release(true);
  }
}
