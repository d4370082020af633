import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Program, runSql, type StallingProxy, startStallingProxy } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { startService } from '@packhouse/rig';
import { type ScriptedS3, type ScriptedS3Fault, startScriptedS3 } from '@packhouse/scripted-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { openDatabase } from './open-database.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// Whatever hangs, a process that is told to end has ended within its limit, and nothing is lost by that.
const WAIT = { timeout: 180_000, interval: 10 };
/** The limit where something hangs: it is over soon, and the process must not need longer. */
const SHORT = { DRAIN_LIMIT_MS: '3000' };
/** The limit where nothing may be cut off, however slow the machine is. */
const LONG = { DRAIN_LIMIT_MS: '200000' };
/** So that jobs of a process that was cut off are soon another's. */
const JOB_LOCK_MS = '4000';
const MAX_BLOCKS = 16;

const FIRST = 1_000;
const LAST = 1_099;
const chain = generateChain({
  length: LAST - FIRST + 1,
  txsPerBlock: 4,
  logsPerTx: 1,
  tracesPerTx: 2,
  seed: 21,
  startNumber: FIRST,
});
let workspace: Workspace;
let node: ReplayNode;
let s3: ScriptedS3;
let s3Fault: (method: string, key: string) => ScriptedS3Fault | undefined;
let proxy: StallingProxy;
let running: Program[];
async function open(): Promise<void> {
  running = [];
  s3Fault = () => undefined;
  workspace = await makeWorkspace(inject('postgresUrl'), { migrated: true });
  node = await createReplayNode({ blocks: chain });
  s3 = await startScriptedS3({ onRequest: ({ method, key }) => s3Fault(method, key) });
  proxy = await startStallingProxy(workspace.databaseUrl);
}
async function killAll(): Promise<void> {
  proxy.resume();
  for (const { child, exit } of running.splice(0)) {
    child.kill('SIGKILL');
    await exit;
  }
}
async function close(): Promise<void> {
  await killAll();
  await proxy.close();
  await node.close();
  await s3.close();
  await workspace.remove();
}
/** Each test of the block has its own database and store. */
function openForEach(): void {
  beforeEach(open);
  afterEach(close);
}

async function start(
  name: 'gateway' | 'ingester' | 'packer',
  env: Record<string, string> = {},
): Promise<Program> {
  const service = startService(name, {
    DATABASE_URL: workspace.databaseUrl,
    NETWORKS_FILE: await writeNetworksFile(workspace, node.url, MAX_BLOCKS),
    OBJECT_STORE: `s3://${s3.bucket}/objects`,
    S3_ENDPOINT: s3.endpoint,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'a-secret',
    SIGNING_KEY_FILE: path.join(workspace.directory, 'signing-key.pem'),
    JOB_LOCK_MS,
    ...env,
  });
  running.push(service);
  await service.message('ready');
  return service;
}

/** Wants the whole range of all kinds. */
async function want(): Promise<void> {
  const database = openDatabase(workspace.databaseUrl);
  await database.networks.register({ id: 'main', chainId: 1 });
  const kinds = ['blocks', 'transactions', 'receipts', 'logs', 'traces'] as const;
  await database.network('main').backfills.add({ kinds, from: FIRST, to: LAST, priority: 1 });
  await database.close();
}

const count = async (text: string): Promise<number> =>
  Number((await runSql<{ n: string }>(workspace.databaseUrl, `SELECT count(*) AS n FROM ${text}`))[0]?.n);
const staged = (): Promise<number> => count('packhouse.staged_block');
const bundles = (): Promise<number> => count('packhouse.bundle');
const activeJobs = (): Promise<number> => count("bullmq.job WHERE state = 'active'");
/** Advisory locks of Packhouse that somebody holds: to lead, to pack, to observe. */
const locks = (): Promise<number> =>
  count(
    "pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  );

/** Starts an ingester and a packer, and waits until they have published the whole range. */
async function publishAll(): Promise<Program[]> {
  const both = await Promise.all([start('ingester', LONG), start('packer', LONG)]);
  // Also before all tests of a block, where there is no expect.poll.
  await vi.waitUntil(async () => (await published()) === chain.length * 5, WAIT);
  return both;
}
const published = async (): Promise<number> =>
  Number(
    (
      await runSql<{ n: string }>(
        workspace.databaseUrl,
        'SELECT coalesce(sum(blocks), 0) AS n FROM packhouse.published',
      )
    )[0]?.n,
  );
async function checkAll(): Promise<void> {
  await checkPublished(workspace, chain, 'main', {
    read: async (key) => s3.objects.get(`objects/${key}`)?.body ?? Buffer.alloc(0),
  });
}

/** Sends SIGTERM until the process ends: one within a second of the first is the same. */
async function toldUntil({ child }: Program, code: number): Promise<void> {
  const told = (): number | null => {
    child.kill('SIGTERM');
    return child.exitCode;
  };
  await expect.poll(told, WAIT).toBe(code);
}

describe('an ingester', () => {
  openForEach();

  test('whose node hangs gives its windows back: another one leads at once and does them, and nothing counts as failed', async () => {
    await want();
    node.faults.add({ do: 'hang', when: { method: 'eth_getBlockReceipts', block: FIRST + 5, nth: 1 } });
    const first = await start('ingester', { ...LONG, NODE_TIMEOUT_MS: '600000' });
    await expect.poll(() => node.faults.hits().hang ?? 0, WAIT).toBeGreaterThan(0);
    await expect.poll(activeJobs, WAIT).toBeGreaterThan(0);
    first.child.kill('SIGTERM');
    expect(await first.exit, first.log()).toBe(0);
    expect(await activeJobs(), 'no job is still somebody’s').toBe(0);
    expect(await locks(), 'no lock is still held').toBe(0);
    expect(first.log()).toContain('job given back');
    expect(first.log()).not.toContain('will be tried again');
    expect(await count('bullmq.job WHERE attempts_made > 0')).toBe(0);
    await publishAll();
    await checkAll();
  });

  test('whose Postgres hangs ends in time, with 75, and what it had is taken over', async () => {
    await want();
    const first = await start('ingester', { ...SHORT, DATABASE_URL: proxy.url });
    await expect.poll(staged, WAIT).toBeGreaterThan(0);
    proxy.stall();
    first.child.kill('SIGTERM');
    expect(await first.exit, first.log()).toBe(75);
    expect(first.log()).toContain('draining takes too long');
    // Its connections are gone with it; a Postgres that hangs finds that out when it goes on.
    proxy.resume();
    await publishAll();
    await checkAll();
  });

  test('that is told twice ends at once', async () => {
    await want();
    const first = await start('ingester', { ...LONG, DATABASE_URL: proxy.url });
    await expect.poll(staged, WAIT).toBeGreaterThan(0);
    proxy.stall();
    first.child.kill('SIGTERM');
    await expect.poll(() => first.log(), WAIT).toContain('"draining"');
    await toldUntil(first, 143);
  });
});

describe('a packer', () => {
  openForEach();

  /** All is staged, and nothing is packed yet. */
  async function stageAll(): Promise<void> {
    await want();
    const ingester = await start('ingester', LONG);
    await expect.poll(staged, WAIT).toBe(chain.length);
    await expect.poll(() => count("bullmq.job WHERE queue LIKE '%pack'"), WAIT).toBeGreaterThan(0);
    ingester.child.kill('SIGTERM');
    await ingester.exit;
  }
  const isBundle = (method: string, key: string): boolean => method === 'PUT' && key.includes('.json.gz');

  test('finishes the bundle that it is at, begins no other, and lets its locks go', async () => {
    await stageAll();
    const put: string[] = [];
    s3Fault = (method, key) => {
      if (!isBundle(method, key)) return undefined;
      put.push(key);
      return 'slow';
    };
    const packer = await start('packer', { ...LONG, PACK_CONCURRENCY: '1' });
    await expect.poll(() => put.length, WAIT).toBeGreaterThan(0);
    packer.child.kill('SIGTERM');
    expect(await packer.exit, packer.log()).toBe(0);
    expect(await bundles(), 'every object that was put has its row').toBe(new Set(put).size);
    expect(await bundles()).toBeLessThan((chain.length / MAX_BLOCKS) * 5);
    expect(await activeJobs()).toBe(0);
    expect(await locks()).toBe(0);
    s3Fault = () => undefined;
    await publishAll();
    await checkAll();
  });

  test('whose store hangs is cut off in time, with 75, and gives its job back', async () => {
    await stageAll();
    let hung = 0;
    s3Fault = (method, key) => {
      if (!isBundle(method, key)) return undefined;
      hung += 1;
      return 'silence';
    };
    const packer = await start('packer', SHORT);
    await expect.poll(() => hung, WAIT).toBeGreaterThan(0);
    packer.child.kill('SIGTERM');
    expect(await packer.exit, packer.log()).toBe(75);
    expect(await bundles()).toBe(0);
    expect(await count('bullmq.job WHERE attempts_made > 0')).toBe(0);
    s3Fault = () => undefined;
    await publishAll();
    await checkAll();
  });

  test('whose Postgres hangs ends in time, with 75', async () => {
    await stageAll();
    const packer = await start('packer', { ...SHORT, DATABASE_URL: proxy.url });
    await expect.poll(bundles, WAIT).toBeGreaterThan(0);
    proxy.stall();
    packer.child.kill('SIGTERM');
    expect(await packer.exit, packer.log()).toBe(75);
  });
});

describe('a gateway', () => {
  // They only read what is published, so it is published once.
  beforeAll(async () => {
    await open();
    await want();
    for (const { child, exit } of await publishAll()) {
      child.kill('SIGTERM');
      await exit;
    }
  });
  afterEach(async () => {
    await killAll();
    s3Fault = () => undefined;
  });
  afterAll(close);

  async function serve(env: Record<string, string>) {
    const database = openDatabase(workspace.databaseUrl);
    const { key } = await database.keys.create({ application: 'test', network: null, plan: 'unlimited' });
    const [bundle] = await database.network('main').bundles.list('blocks', 0, 1);
    await database.close();
    const gateway = await start('gateway', env);
    const url = `http://127.0.0.1:${(await gateway.message('listening')).port}`;
    return {
      gateway,
      url,
      headers: { authorization: `Bearer ${key}` },
      file: `${url}/main/files/blocks/${bundle?.firstBlock}-${bundle?.lastBlock}.json.gz`,
      pointer: (block: number) => `${url}/main/v1/${key}/bundle-api/blocks/${block}`,
    };
  }
  const ask = (
    url: string,
    options: { agent?: Agent; headers?: Record<string, string> } = {},
  ): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get(url, options, resolve).on('error', reject);
    });
  const text = async (answer: IncomingMessage): Promise<string> => {
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    return Buffer.concat(parts).toString();
  };

  test('ends a download that is under way, refuses what comes on a kept connection, and ends with 0', async () => {
    const { gateway, file, headers, pointer, url } = await serve(LONG);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await ask(pointer(FIRST), { agent }).then(text)).length).toBeGreaterThan(0);
    s3Fault = (method, key) => (method === 'GET' && key.includes('.json.gz') ? 'slow' : undefined);
    const before = s3.requests.length;
    const download = ask(file, { headers });
    await expect.poll(() => s3.requests.length, WAIT).toBeGreaterThan(before);
    gateway.child.kill('SIGTERM');
    await expect.poll(() => gateway.log(), WAIT).toContain('"draining"');
    // On the kept connection if it is still open; a new one finds nobody.
    const refused = await ask(pointer(FIRST + 1), { agent }).catch((error: { code?: string }) => error.code);
    if (typeof refused === 'object') {
      expect(refused.statusCode).toBe(503);
      expect(refused.headers.connection).toBe('close');
      expect(JSON.parse(await text(refused))).toMatchObject({ reason: 'draining' });
    } else expect(['ECONNREFUSED', 'ECONNRESET']).toContain(refused);
    const answer = await download;
    expect(answer.statusCode).toBe(200);
    const read = await text(answer);
    expect(read.length).toBeGreaterThan(0);
    expect(await gateway.exit, gateway.log()).toBe(0);
    await expect(ask(`${url}/healthz`)).rejects.toThrow();
    agent.destroy();
  });

  test('tells a load balancer first: not ready, while it still answers', async () => {
    const { gateway, url, pointer } = await serve({ DRAIN_DELAY_MS: '60000', DRAIN_LIMIT_MS: '600000' });
    expect((await ask(`${url}/readyz`)).statusCode).toBe(200);
    gateway.child.kill('SIGTERM');
    await expect.poll(async () => (await ask(`${url}/readyz`)).statusCode, WAIT).toBe(503);
    expect((await ask(pointer(FIRST))).statusCode).toBe(200);
    await toldUntil(gateway, 143);
  });

  test('cuts off a download whose store hangs, and one that nobody reads, and ends in time with 75', async () => {
    const { gateway, file, headers } = await serve(SHORT);
    s3Fault = (method, key) => (method === 'GET' && key.includes('.json.gz') ? 'silence' : undefined);
    const before = s3.requests.length;
    const download = ask(file, { headers }).then(text);
    download.catch(() => undefined);
    await expect.poll(() => s3.requests.length, WAIT).toBeGreaterThan(before);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exit, gateway.log()).toBe(75);
    await expect(download).rejects.toThrow();
  });

  test('whose Postgres hangs ends in time', async () => {
    const { gateway, pointer } = await serve({ ...SHORT, DATABASE_URL: proxy.url });
    proxy.stall();
    const waiting = ask(pointer(LAST - 1));
    waiting.catch(() => undefined);
    await delay(1); // Only so that the request is sent; whether it has arrived makes no difference.
    gateway.child.kill('SIGTERM');
    expect([0, 75]).toContain(await gateway.exit);
  });
});

describe('packhouse local', () => {
  openForEach();

  test('ends with 0 under load, and the next start finishes what is left', async () => {
    const first = startLocal(workspace, { rpc: [node.url], from: FIRST, to: LAST });
    await first.event('progress', (event) => (event.staged as number) > 0);
    first.child.kill('SIGTERM');
    expect(await first.exit, first.stderr()).toBe(0);
    expect(await locks()).toBe(0);
    expect(await activeJobs()).toBe(0);
    const second = startLocal(workspace, { rpc: [node.url], from: FIRST, to: LAST });
    try {
      expect(await second.exit, second.stderr()).toBe(0);
    } finally {
      await end(second);
    }
    await checkPublished(workspace, chain, 'ethereum');
  });

  test('says where the metrics are, and they tell of all its parts', async () => {
    const cli = startLocal(workspace, { rpc: [node.url], from: FIRST });
    try {
      const ready = await cli.event('ready');
      const metrics = ready.metrics as Record<string, string>;
      expect(Object.keys(metrics)).toEqual(['gateway', 'ingester', 'packer']);
      const tell = async (name: string): Promise<string> => (await fetch(metrics[name] as string)).text();
      await expect
        .poll(() => tell('ingester'), WAIT)
        .toContain(`packhouse_head_block{network="ethereum"} ${LAST}`);
      for (const name of Object.keys(metrics))
        expect(await tell(name)).toMatch(/^process_resident_memory_bytes \d+$/m);
      expect(await tell('packer')).toMatch(/^packhouse_store_disk_bytes\{what="free"\} \d+$/m);
      expect(await tell('packer')).not.toContain('packhouse_head_block{');
    } finally {
      cli.child.kill('SIGTERM');
      await once(cli.child, 'exit').catch(() => undefined);
      expect(await cli.exit).toBe(0);
    }
  });
});
