import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { createDatabase, type Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { type Network, parseNetworks } from '@packhouse/networks';
import { createDiskStore, type ObjectStore } from '@packhouse/object-store';
import { publish } from '@packhouse/pipeline';
import { createQueues } from '@packhouse/queue';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runSchedule } from './run-schedule.js';
import { createSampledAudit, SAMPLED_AUDIT } from './sampled-audit.js';
import { scheduleLoop } from './schedule-loop.js';

const stop = new AbortController();
let fresh: FreshDatabase;
let database: Database;
let directory: string;
let objectStore: ObjectStore;
let network: Network;

function getContext(signal: AbortSignal): Context {
  const logger = createLogger({ name: 'test', level: 'silent' });
  return { logger, metrics: createMetrics(), clock: systemClock, signal };
}

beforeAll(async () => {
  fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  database = createDatabase({
    connectionString: fresh.url,
    context: getContext(stop.signal),
    applicationName: 'test',
  });
  directory = await mkdtemp(path.join(tmpdir(), 'packhouse-packer-'));
  objectStore = await createDiskStore({ directory });
  const file = {
    networks: [
      { id: 'main', family: 'evm', chainId: 1, upstreams: [{ name: 'a', url: 'http://127.0.0.1:9' }] },
    ],
  };
  network = parseNetworks(JSON.stringify(file), { source: 'test', env: {} })[0] as Network;
  await database.networks.register({ id: 'main', chainId: 1 });
  await publishEmptyLogs();
});
afterAll(async () => {
  stop.abort();
  await database.close();
  await fresh.drop();
  await rm(directory, { recursive: true, force: true });
});

/** A bundle of one block without logs, of which nothing was proved. */
async function publishEmptyLogs(): Promise<void> {
  const text = Buffer.from('[]');
  const body = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
  const info = {
    firstBlock: 7,
    lastBlock: 7,
    byteLength: body.length,
    rawLength: text.length,
    crc32: crc32(text),
  };
  const [hash, parentHash] = [`0x${'22'.repeat(32)}`, `0x${'11'.repeat(32)}`];
  await database.network('main').staging.stage({
    blocks: [{ number: 7, hash, parentHash, timestamp: 1, transactionCount: 0, proofs: [] }],
    kinds: [{ kind: 'logs', fragments: [{ ...info, body }] }],
  });
  const context = getContext(stop.signal);
  const request = { network: 'main', kind: 'logs', fragments: [info] } as const;
  await publish({ context, database, objectStore }, request, stop.signal);
}

/** A packer's schedule and the queue, with the pauses of its loop shortened. */
async function startPacker(share: number, everyMs: number, signal: AbortSignal) {
  const context = getContext(signal);
  const queues = await createQueues({ databaseUrl: fresh.url, context });
  const audit = createSampledAudit({
    context,
    database,
    objectStore,
    networks: () => [network],
    share,
    everyMs,
    bytesPerSecond: 1_000_000,
  });
  const running = { context, cut: signal, database, cli: 'none', env: {} };
  await queues.work(
    'schedule',
    (job) => runSchedule({ ...running, builtIn: { [SAMPLED_AUDIT]: audit.run } }, job),
    { concurrency: 2 },
  );
  const loop = scheduleLoop({
    context: { ...context, clock: { ...systemClock, sleep: (_, ended) => systemClock.sleep(20, ended) } },
    database,
    queues,
    ofSettings: { AUDIT_EVERY: audit.schedules },
    checked: audit.report,
  });
  return { metrics: context.metrics, ended: loop.then(() => queues.close()) };
}

test('one of two packers audits when it is due, again and again; both end when they are told to', async () => {
  const running = new AbortController();
  const packers = [
    await startPacker(0.001, 200, running.signal),
    await startPacker(0.001, 200, running.signal),
  ];
  const finished = async (): Promise<number> =>
    (await database.network('main').audit.last())?.finishedAt.getTime() ?? 0;
  await expect.poll(finished, { timeout: 120_000 }).toBeGreaterThan(0);
  const first = await finished();
  await expect.poll(finished, { timeout: 120_000 }).toBeGreaterThan(first);
  expect(await database.network('main').audit.last()).toMatchObject({ bundles: 1, findings: 0 });
  const texts = await Promise.all(packers.map(({ metrics }) => metrics.render()));
  expect(texts.join('\n')).toMatch(/packhouse_audit_bundles_total\{network="main",result="clean"\} [1-9]/);
  expect(texts.join('\n')).toMatch(/packhouse_audit_last_run_seconds\{network="main"\} [1-9]/);
  running.abort(new Error('told to end'));
  await Promise.all(packers.map(({ ended }) => ended));
  const runs = await database.schedules.runs('audit', { limit: 99 });
  expect(new Set(runs.map(({ due }) => due.getTime())).size).toBe(runs.length);
  expect(runs.at(-1)).toMatchObject({ outcome: 'done', message: 'main: 1 bundles, 0 findings' });
  expect(runs.filter(({ outcome }) => outcome === 'skipped')).toEqual([]);
});

test('an object that is damaged is told to the operator', async () => {
  await objectStore.delete('main/logs/7-7.json.gz');
  const running = new AbortController();
  const { ended } = await startPacker(1, 200, running.signal);
  const alarms = async (): Promise<string[]> => (await database.alarms.list()).map(({ message }) => message);
  await expect
    .poll(alarms, { timeout: 120_000 })
    .toMatchObject(
      [/^1 published bundle of main is damaged: logs 7-7 \(missing\)/].map((form) =>
        expect.stringMatching(form),
      ),
    );
  running.abort();
  await ended;
});

test('a share of nothing is no schedule', async () => {
  const running = new AbortController();
  const { ended } = await startPacker(0, 1_000, running.signal);
  await expect.poll(async () => (await database.schedules.list()).schedules, { timeout: 60_000 }).toEqual([]);
  running.abort();
  await ended;
});
