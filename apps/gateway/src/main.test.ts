import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { startScriptedS3 } from '@packhouse/scripted-s3';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { ask } from './testing/ask.js';

vi.setConfig({ testTimeout: 120_000 });

const OWN_METRICS = /^packhouse_gateway_cache_bytes\{cache="files"\} 0$/m;

describe('the gateway as a process', () => {
  let database: FreshDatabase;
  let directory: string;
  beforeAll(async () => {
    database = await freshDatabase(inject('postgresUrl'), { migrated: true });
    directory = await mkdtemp(path.join(os.tmpdir(), 'packhouse-gateway-'));
    await writeFile(
      path.join(directory, 'networks.yaml'),
      "networks: [{id: ethereum, family: evm, chainId: 1, upstreams: [{url: 'http://127.0.0.1:1'}]}]",
    );
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
    await database.drop();
  });

  const openDatabase = () =>
    createDatabase({
      connectionString: database.url,
      applicationName: 'gateway test',
      context: {
        logger: createLogger({ name: 'test', level: 'silent' }),
        metrics: createMetrics(),
        clock: systemClock,
        signal: new AbortController().signal,
      },
    });

  /** Starts the built gateway, as it is installed and in half the time of its sources, and collects its output. */
  function start(env: Record<string, string> = {}) {
    const child: ChildProcess = fork(fileURLToPath(new URL('../dist/main.js', import.meta.url)), {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.url,
        OBJECT_STORE: path.join(directory, 'objects'),
        NETWORKS_FILE: path.join(directory, 'networks.yaml'),
        HOST: '127.0.0.1',
        PORT: '0',
        ...env,
      },
    });
    const said = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk) => {
      said.stdout += String(chunk);
    });
    child.stderr?.on('data', (chunk) => {
      said.stderr += String(chunk);
    });
    const ended = once(child, 'close').then(([code]) => code as number | null);
    const heard = (type: string): Promise<number> => {
      const port = new Promise<number>((resolve, reject) => {
        child.on('message', (message: { type: string; port: number }) => {
          if (message.type === type) resolve(message.port);
        });
        void ended.then((code) => reject(new Error(`ended with ${code}: ${said.stderr}`)));
      });
      port.catch(() => undefined);
      return port;
    };
    return { child, said, ended, listening: heard('listening'), metrics: heard('metrics') };
  }

  it('tells its supervisor its ports, says nothing on stdout, and drains on SIGTERM', async () => {
    const { child, said, ended, listening, metrics } = start({
      METRICS_PORT: 'any',
      METRICS_HOST: '127.0.0.1',
    });
    const url = `http://127.0.0.1:${await listening}`;
    await expect.poll(async () => (await ask(url, '/readyz')).status).toBe(200);
    expect((await ask(url, '/')).json().networks).toMatchObject([{ base_url: `${url}/ethereum/v1/` }]);
    // Nobody else can reach its requests: its metrics are there too.
    expect((await ask(url, '/metrics')).status).toBe(200);
    expect('/metrics' in ((await ask(url, '/openapi.json')).json().paths as object)).toBe(true);
    expect((await ask(`http://127.0.0.1:${await metrics}`, '/metrics')).text).toMatch(OWN_METRICS);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said.stdout).toBe('');
  });

  it('raises an alarm if the object store refuses it, and drains', async () => {
    const s3 = await startScriptedS3({ onRequest: () => 'signatureDoesNotMatch' });
    const store = openDatabase();
    await store.networks.register({ id: 'ethereum', chainId: 1 });
    const { child, ended, listening } = start({
      OBJECT_STORE: `s3://${s3.bucket}`,
      S3_ENDPOINT: s3.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'wrong',
    });
    await listening;
    await vi.waitFor(
      async () =>
        expect(await store.alarms.list()).toMatchObject([
          { name: 'OBJECT_STORE_INVALID', message: expect.stringMatching(/to a gateway: SignatureDoesNot/) },
        ]),
      60_000,
    );
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    await store.close();
    await s3.close();
  });

  it('keeps its metrics on a port of their own where others can reach its requests', async () => {
    const { child, ended, listening, metrics } = start({
      HOST: '0.0.0.0',
      METRICS_PORT: 'any',
      METRICS_HOST: '127.0.0.1',
    });
    const url = `http://127.0.0.1:${await listening}`;
    const answer = await ask(url, '/metrics');
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('packhouse_');
    expect('/metrics' in ((await ask(url, '/openapi.json')).json().paths as object)).toBe(false);
    const own = `http://127.0.0.1:${await metrics}`;
    expect((await ask(own, '/metrics')).text).toMatch(OWN_METRICS);
    expect((await ask(own, '/readyz')).status).toBe(404);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('answers on one port from two workers, as one gateway, and replaces one that is killed', async () => {
    const store = openDatabase();
    await store.plans.set('slow', { requestsPerSecond: 1 }, { make: true });
    const { key } = await store.keys.create({ application: 'x', network: null, plan: 'slow' });
    await store.close();
    const { child, said, ended, listening, metrics } = start({
      GATEWAY_WORKERS: '2',
      METRICS_PORT: 'any',
      METRICS_HOST: '127.0.0.1',
    });
    const url = `http://127.0.0.1:${await listening}`;
    const own = `http://127.0.0.1:${await metrics}`;
    await vi.waitFor(async () => expect((await ask(url, '/readyz')).status).toBe(200), 60_000);
    // Each request has a connection, which the next worker gets; the second of the key is counted in the primary.
    const pointers = async (): Promise<number[]> => {
      const asked = Array.from({ length: 60 }, () => ask(url, `/ethereum/v1/${key}/bundle-api/logs/7`));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    const statuses = await pointers();
    expect(statuses).toContain(429);
    const counted = /^packhouse_gateway_requests_total\{[^}]*route="pointer"[^}]*\} (\d+)$/gm;
    const sum = (text: string): number =>
      [...text.matchAll(counted)].reduce((all, [, n]) => all + Number(n), 0);
    await vi.waitFor(async () => expect(sum((await ask(own, '/metrics')).text)).toBe(60), 60_000);
    expect(sum((await ask(url, '/metrics')).text)).toBe(60);
    const pids = [...new Set([...said.stderr.matchAll(/"pid":(\d+)/g)].map(([, pid]) => Number(pid)))];
    const victim = pids.find((pid) => pid !== child.pid) as number;
    process.kill(victim, 'SIGKILL');
    await vi.waitFor(() => expect(said.stderr).toContain('a worker of the gateway exited'), 60_000);
    await vi.waitFor(() => expect(said.stderr.match(/"msg":"listening"/g)).toHaveLength(3), 60_000);
    expect((await ask(url, '/')).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said.stdout).toBe('');
  });

  it('says that nobody can read its metrics, and drains when its supervisor is gone', async () => {
    const { child, said, listening } = start({ HOST: '0.0.0.0' });
    await listening;
    // Not `close`, which Node omits if the parent itself closed the channel.
    const exit = once(child, 'exit');
    child.disconnect();
    expect((await exit)[0]).toBe(0);
    await vi.waitFor(() => expect(said.stderr).toContain('metrics are not served: set METRICS_PORT'), 60_000);
  });

  it('takes a changed networks file up, and keeps the old one where the change is bad', async () => {
    const before = await readFile(path.join(directory, 'networks.yaml'), 'utf8');
    const file = path.join(directory, 'changing.yaml');
    await writeFile(file, before);
    const { child, said, ended, listening } = start({ NETWORKS_FILE: file });
    const url = `http://127.0.0.1:${await listening}`;
    const ids = async (): Promise<string[]> => {
      const { networks } = (await ask(url, '/')).json() as { networks: { id: string }[] };
      return networks.map(({ id }) => id);
    };
    await writeFile(
      file,
      before.replace(']}]', ']}, {id: ckb, family: cell, upstreams: [{url: "http://127.0.0.1:1"}]}]'),
    );
    await vi.waitFor(async () => expect(await ids()).toEqual(['ethereum', 'ckb']), 60_000);
    await vi.waitFor(() => expect(said.stderr).toContain('"changes":["ckb added"]'), 60_000);
    await writeFile(file, before.replace('family: evm', 'family: evm, pollInterval: 500'));
    const ready = async (): Promise<unknown> => (await ask(url, '/readyz')).json().networksFile;
    await vi.waitFor(async () => expect(await ready()).toBe(false), 60_000);
    expect((await ask(url, '/readyz')).status).toBe(200);
    expect((await ask(url, '/metrics')).text).toMatch(/^packhouse_networks_file_ok 0$/m);
    expect(said.stderr).toContain('networks file rejected');
    expect(said.stderr).toMatch(/line 1: networks\[0\]\.pollInterval is an unknown field/);
    expect(await ids()).toEqual(['ethereum', 'ckb']);
    await writeFile(file, before);
    await vi.waitFor(async () => expect(await ids()).toEqual(['ethereum']), 60_000);
    expect(await ready()).toBe(true);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('loses no count of usage that is a second old when it is killed', async () => {
    const store = createDatabase({
      connectionString: database.url,
      applicationName: 'usage test',
      context: {
        logger: createLogger({ name: 'test', level: 'silent' }),
        metrics: createMetrics(),
        clock: systemClock,
        signal: new AbortController().signal,
      },
    });
    try {
      const { key, row } = await store.keys.create({ application: 'x', network: null, plan: 'unlimited' });
      const { child, listening } = start();
      const url = `http://127.0.0.1:${await listening}`;
      for (let n = 0; n < 20; n++) await ask(url, `/ethereum/v1/${key}/bundle-api/logs/7`);
      const sums = () => store.usage.sums({ keyIds: [row.id], since: 0, until: 99_999, by: 'method' });
      const counted = { name: 'pointer', requests: 20, units: 20, errors: 20, bytes: expect.any(Number) };
      await vi.waitFor(async () => expect(await sums()).toEqual([counted]), 60_000);
      const exit = once(child, 'exit');
      void ask(url, `/ethereum/v1/${key}/bundle-api/logs/7`).catch(() => undefined);
      child.kill('SIGKILL');
      await exit;
      const [after] = await sums();
      expect(after?.requests).toBeGreaterThanOrEqual(20);
      const next = start();
      const again = `http://127.0.0.1:${await next.listening}`;
      for (let n = 0; n < 3; n++) await ask(again, `/ethereum/v1/${key}/bundle-api/logs/7`);
      next.child.kill('SIGTERM');
      expect(await next.ended).toBe(0);
      expect((await sums())[0]?.requests).toBe((after?.requests ?? 0) + 3);
    } finally {
      await store.close();
    }
  });

  it('ends with one sentence and the code of a port that is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const { said, ended } = start({ PORT: String(port), LOG_LEVEL: 'silent' });
    expect(await ended).toBe(69);
    expect(said.stderr.trim().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`Port ${port} .*PORT_IN_USE`)),
    ]);
    taken.close();
  });

  it('names every setting that is wrong', async () => {
    const { said, ended } = start({ PORT: '70000', PUBLIC_URL: 'nowhere', DATABASE_URL: '' });
    expect(await ended).toBe(78);
    for (const name of ['PORT', 'PUBLIC_URL', 'DATABASE_URL']) expect(said.stderr).toContain(name);
  });
});
