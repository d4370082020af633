import { readFile } from 'node:fs/promises';
import { KINDS } from '@packhouse/chain';
import { type Program, type ProgramEvent, redisInstalled, runSql, startRedis } from '@packhouse/local';
import { createReplayNode, generateChain, type RecordedBlock, type ReplayNode } from '@packhouse/replay-node';
import { startScriptedS3 } from '@packhouse/scripted-s3';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { gatewayReader } from './gateway-reader.js';
import { writeNetworksFile } from './networks-file.js';
import { canonical, checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// Each embedded part gives way to the real one by its variable.
const FIRST = 1_000;
const MIDDLE = 1_015;
const LAST = 1_031;
const chain = generateChain({
  length: LAST - FIRST + 1,
  txsPerBlock: 5,
  logsPerTx: 2,
  tracesPerTx: 3,
  seed: 5,
  startNumber: FIRST,
});
let workspace: Workspace;
let node: ReplayNode;
let cli: Program | undefined;
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  // Up to the middle exists, and of that all but three blocks are final.
  node = await createReplayNode({ blocks: chain, head: MIDDLE, finalized: { depth: 3 } });
});
afterEach(async () => {
  await end(cli);
  await node.close();
  await workspace.remove();
});

const progressTo =
  (field: 'staged' | 'published', number: number) =>
  (event: ProgramEvent): boolean =>
    (event[field] as number) >= number - FIRST + 1;

test('objects on S3, which asks to slow down and drops a connection: published once, read through the gateway', async () => {
  const s3 = await startScriptedS3();
  try {
    const networksFile = await writeNetworksFile(workspace, node.url, 8);
    const written = await readFile(networksFile, 'utf8');
    const run = startLocal(workspace, {
      from: FIRST,
      to: LAST,
      once: false,
      env: {
        NETWORKS_FILE: networksFile,
        OBJECT_STORE: `s3://${s3.bucket}/some/prefix`,
        S3_ENDPOINT: s3.endpoint,
        AWS_ACCESS_KEY_ID: s3.accessKeyId,
        AWS_SECRET_ACCESS_KEY: 'a-secret-that-appears-nowhere',
      },
    });
    cli = run;
    const gateway = await gatewayReader(run);
    await run.event('progress', progressTo('staged', MIDDLE));
    await run.event('progress', progressTo('published', FIRST + 7));
    const early = new Map<number, string>();
    for (const number of [MIDDLE, MIDDLE - 2]) {
      const { range, download_link } = await gateway.pointer('traces', number);
      expect(range).toBe(`${number}-${number}`);
      early.set(number, download_link);
    }
    s3.script('PUT', 'slowDown', 'resetAfterWrite');
    const before = s3.requests.length;
    node.setHead(LAST);
    node.setFinalized(LAST);
    await run.event('progress', progressTo('published', LAST));

    const key = (objectKey: string): string => `some/prefix/${objectKey}`;
    const keys = await checkPublished(workspace, chain, 'main', {
      read: async (objectKey) => s3.objects.get(key(objectKey))?.body ?? Buffer.alloc(0),
    });
    const filters = keys
      .filter((each) => !each.includes('/blocks/'))
      .map((each) => each.replace('.json.gz', '.filter'));
    const stored = [...s3.objects.keys()].filter((name) => !name.startsWith(key('main/manifest/')));
    expect(stored.sort()).toEqual([...keys, ...filters, 'put-once-probe'].map(key).sort());
    const puts = s3.requests.slice(before).filter((request) => request.startsWith('PUT '));
    // A bundle whose answer was lost is found at its next try, and written again.
    expect([2, 3]).toContain(puts.length - new Set(puts).size);

    for (const kind of KINDS) {
      const read: unknown[] = [];
      while (read.length < chain.length) {
        const { range, download_link } = await gateway.pointer(kind, FIRST + read.length);
        expect(range.split('-')[0]).toBe(String(FIRST + read.length));
        read.push(...(await gateway.records(download_link)));
      }
      expect(read).toEqual(chain.map((block) => canonical(block, kind)));
      const number = FIRST + 9;
      expect(await gateway.records(`${gateway.downloadUrl}/${kind}/${number}-${number}.json.gz`)).toEqual([
        canonical(chain[9] as RecordedBlock, kind),
      ]);
    }
    for (const [number, link] of early)
      expect(await gateway.records(link)).toEqual([
        canonical(chain[number - FIRST] as RecordedBlock, 'traces'),
      ]);

    run.child.kill('SIGINT');
    expect(await run.exit, run.stderr()).toBe(0);
    expect(await readFile(networksFile, 'utf8')).toBe(written);
    for (const name of ['gateway', 'packer'])
      expect(await readFile(`${workspace.directory}/logs/${name}.log`, 'utf8')).not.toContain('a-secret');
  } finally {
    await s3.close();
  }
});

test('--rpc does not write over the file of NETWORKS_FILE', async () => {
  const networksFile = await writeNetworksFile(workspace, 'http://127.0.0.1:9', 8);
  const written = await readFile(networksFile, 'utf8');
  const run = startLocal(workspace, {
    rpc: [node.url],
    from: FIRST,
    to: FIRST + 3,
    env: { NETWORKS_FILE: networksFile },
  });
  cli = run;
  expect(await run.exit, run.stderr()).toBe(0);
  expect(await readFile(networksFile, 'utf8')).toBe(written);
  await checkPublished(workspace, chain.slice(0, 4), 'ethereum');
});

describe.skipIf(!redisInstalled())('queues on Redis (needs redis-server)', () => {
  test('hold the jobs, and when Redis is killed and comes back empty, everything is planned again', async () => {
    const redis = await startRedis();
    try {
      const run = startLocal(workspace, {
        rpc: [node.url],
        from: FIRST,
        to: LAST,
        env: { REDIS_URL: redis.url },
      });
      cli = run;
      await run.event('progress', progressTo('staged', MIDDLE));
      expect(await redis.command('EXISTS packhouse:ingest:meta')).toBe(':1\r\n');
      await redis.restart();
      node.setHead(LAST);
      node.setFinalized(LAST);
      expect(await run.exit, run.stderr()).toBe(0);
      await checkPublished(workspace, chain, 'ethereum');
      expect(
        await runSql(workspace.databaseUrl, "SELECT 1 FROM pg_namespace WHERE nspname = 'bullmq'"),
      ).toEqual([]);
    } finally {
      await end(cli);
      await redis.stop();
    }
  });
});
