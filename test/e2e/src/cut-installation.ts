import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { type Database, migrate } from '@packhouse/database';
import {
  createScope,
  type Program,
  redisInstalled,
  runSql,
  type Scope,
  startPostgres,
  startRedis,
  temporaryDirectory,
} from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { startService } from '@packhouse/rig';
import { systemClock } from '@packhouse/runtime';
import { type ScriptedS3, startScriptedS3 } from '@packhouse/scripted-s3';
import { expect } from 'vitest';
import { type CutNetwork, makeCutNetwork } from './cut-network.js';
import { writeNetworksFile } from './networks-file.js';
import { openDatabase } from './open-database.js';
import { checkPublished } from './published.js';

export const FIRST = 1_000;
/** Newest block before a cut, … */
export const BEFORE = FIRST + 29;
/** … during it, … */
export const DURING = FIRST + 59;
/** … and the newest requested block; it is final after `finish`. */
const LAST = FIRST + 87;
/** How far the newest final block is behind the head. */
export const LAG = 2;
/** Blocks of a bundle. */
export const MAX_BLOCKS = 8;
const chain = generateChain({ length: 92, txsPerBlock: 2, logsPerTx: 1, tracesPerTx: 1, startNumber: FIRST });
const PREFIX = 'some/prefix';

const probe = makeCutNetwork();
/** Whether machines can be cut off here. */
export const canCut = typeof probe !== 'string';
if (typeof probe !== 'string') probe.remove();
export const withRedis = redisInstalled();

/** Postgres, a store, a node and perhaps Redis on this machine, and another machine that can be cut off from them. */
export interface CutInstallation {
  far: CutNetwork;
  node: ReplayNode;
  database: Database;
  databaseUrl: string;
  ports: { postgres: number; store: number; redis: number | undefined };
  scope: Scope;
  /** Starts a service on this machine or on the other one. */
  start(
    name: 'gateway' | 'ingester' | 'packer',
    where?: 'here' | 'far',
    env?: Record<string, string>,
  ): Promise<Program>;
  /** Adds a backfill of everything; resolves when all is staged that exists. */
  follow(): Promise<void>;
  /** Published blocks of all kinds. */
  published(): Promise<number>;
  /** The newest staged block; -1: none. */
  newest(): Promise<number>;
  /** The leader's name; null: nobody leads. */
  leader(): Promise<string | null>;
  /** Lets the rest become final; resolves when all is published. */
  finish(): Promise<number>;
  /** Each block is published once, as the node has it. */
  check(): Promise<void>;
}

/** Starts it; `queue`: what the jobs are in. Ends with `scope`. */
export async function startCutInstallation(
  queue: 'postgres' | 'redis' = 'postgres',
): Promise<CutInstallation> {
  const scope = createScope();
  const far = makeCutNetwork();
  if (typeof far === 'string') throw new Error(far);
  scope.defer(async () => far.remove());
  const seenFromFar = (address: string): URL => {
    const url = new URL(address);
    url.hostname = far.host;
    return url;
  };
  const directory = await temporaryDirectory(scope, 'partitions');
  const access = path.join(directory, 'pg_hba.conf');
  await writeFile(access, 'host all all 0.0.0.0/0 scram-sha-256\n', { mode: 0o644 });
  const postgres = await startPostgres({
    directory: path.join(directory, 'postgres'),
    settings: { listen_addresses: '*', hba_file: access },
  });
  scope.defer(() => postgres.stop());
  const store: ScriptedS3 = await startScriptedS3({ host: '0.0.0.0' });
  scope.defer(() => store.close());
  const redis = queue === 'redis' ? await startRedis({ password: 'secret', bind: '0.0.0.0' }) : undefined;
  if (redis !== undefined) scope.defer(() => redis.stop());
  const node = await createReplayNode({
    blocks: chain,
    head: BEFORE,
    finalized: { depth: LAG },
    host: '0.0.0.0',
  });
  scope.defer(() => node.close());
  const databaseUrl = seenFromFar(postgres.url);
  await migrate({ connectionString: databaseUrl.href });
  const database = openDatabase(databaseUrl.href);
  scope.defer(() => database.close());
  await database.networks.register({ id: 'main', chainId: 1 });
  const nodeUrl = seenFromFar(node.url).href;
  const workspace = { directory, databaseUrl: databaseUrl.href, env: {}, remove: async () => {} };
  const storeUrl = seenFromFar(store.endpoint);
  const shared = {
    DATABASE_URL: databaseUrl.href,
    NETWORKS_FILE: await writeNetworksFile(workspace, nodeUrl, MAX_BLOCKS),
    OBJECT_STORE: `s3://${store.bucket}/${PREFIX}`,
    S3_ENDPOINT: storeUrl.href,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'secret',
    SIGNING_KEY_FILE: path.join(directory, 'signing-key.pem'),
    ...(redis === undefined ? {} : { REDIS_URL: seenFromFar(redis.url).href }),
  };
  const main = database.network('main');
  const published = async (): Promise<number> =>
    (await Promise.all(KINDS.map((kind) => main.bundles.totals(kind)))).reduce(
      (sum, { blocks }) => sum + blocks,
      0,
    );
  const newest = async (): Promise<number> => (await main.staging.newest())?.number ?? -1;
  return {
    far,
    node,
    database,
    databaseUrl: databaseUrl.href,
    ports: {
      postgres: Number(databaseUrl.port),
      store: Number(storeUrl.port),
      redis: redis?.port,
    },
    scope,
    async start(name, where = 'here', env = {}) {
      const within = where === 'far' ? far.within : [];
      const service = startService(name, { ...shared, ...env }, { within });
      scope.defer(async () => {
        service.child.kill('SIGKILL');
        await service.exit;
      });
      await service.message('ready');
      return service;
    },
    async follow() {
      await main.backfills.add({ kinds: [...KINDS], from: FIRST, to: LAST, priority: 1 });
      await expect.poll(newest).toBe(BEFORE);
    },
    published,
    newest,
    leader: async () =>
      (
        await runSql<{ holder: string | null }>(
          databaseUrl.href,
          `SELECT holder FROM packhouse.lease WHERE name = 'lead:main'`,
        )
      )[0]?.holder ?? null,
    finish() {
      node.setHead(LAST + LAG);
      return timeUntil(async () => (await published()) === (LAST - FIRST + 1) * KINDS.length);
    },
    async check() {
      await checkPublished(workspace, chain.slice(0, LAST - FIRST + 1), 'main', {
        read: async (key) => store.objects.get(`${PREFIX}/${key}`)?.body ?? Buffer.alloc(0),
      });
    },
  };
}

/** Resolves to how long it took, in milliseconds. */
export async function timeUntil(check: () => Promise<boolean>): Promise<number> {
  const began = systemClock.elapsed();
  await expect.poll(check, { timeout: 150_000, interval: 200 }).toBe(true);
  return systemClock.elapsed() - began;
}

/** Writes a row of the table: what was cut, and how long each thing took, in milliseconds. */
export function reportRow(what: string, cells: Record<string, number | string>): void {
  const list = Object.entries(cells).map(
    ([name, cell]) => `${name} ${typeof cell === 'number' ? `${(cell / 1_000).toFixed(1)} s` : cell}`,
  );
  process.stdout.write(`| ${[what, ...list].join(' | ')} |\n`);
}
