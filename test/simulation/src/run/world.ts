import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { createDatabase, type Database, migrate } from '@packhouse/database';
import { freePort, type LocalRedis, removePostgres, silentContext, startRedis } from '@packhouse/local';
import type { ScriptedS3Fault } from '@packhouse/scripted-s3';
import { createHonestChain, type GrowingChain } from '../chain/honest-chain.js';
import { type Follower, startFollower } from '../follow/follower.js';
import { type HookReceiver, startHookReceiver } from '../follow/hook-receiver.js';
import { type Nodes, startNodes } from '../ports/nodes.js';
import { OWN_NAME, type SimulatedPostgres, startSimulatedPostgres } from '../ports/postgres.js';
import { createPostgresProxy, type PostgresProxy, type StatementFate } from '../ports/postgres-proxy.js';
import { postgresQueueFaults, type QueueFaults, redisQueueFaults } from '../ports/queue.js';
import { type SimulatedStore, startSimulatedStore } from '../ports/store.js';
import { createTriggers, type Triggers } from '../ports/triggers.js';
import { createFleet, type Fleet } from '../processes/fleet.js';
import { type MemorySamples, sampleMemory } from '../processes/sample-memory.js';
import { createRandom, type Random } from '../random.js';
import { type Downloader, startDownloader } from '../watch/downloader.js';
import { startWatcher, type Watcher } from '../watch/watcher.js';
import { networksFile } from './networks-file.js';
import {
  CHAIN_ID,
  FIRST_BLOCK,
  FIRST_LENGTH,
  INGEST_CONCURRENCY,
  NETWORK,
  type SimulationOptions,
} from './settings.js';
import { createTally, type Tally } from './tally.js';

/** The whole local system, what disturbs it and what watches it. */
export interface World {
  options: SimulationOptions;
  directory: string;
  /** Draws what only shows at run time; the schedule does not depend on it. */
  random: Random;
  chain: GrowingChain;
  nodes: Nodes;
  postgres: SimulatedPostgres;
  proxies: ReadonlyMap<string, PostgresProxy>;
  store: SimulatedStore;
  queueFaults: QueueFaults;
  redis: LocalRedis | undefined;
  triggers: Triggers;
  fleet: Fleet;
  /** Past all faults. */
  database: Database;
  tally: Tally;
  memory: MemorySamples;
  watcher: Watcher;
  downloader: Downloader;
  follower: Follower;
  hookReceiver: HookReceiver;
  gatewayUrl: string;
  baseUrl: string;
  apiKey: string;
  metricsPorts: ReadonlyMap<string, number>;
  /** The environment of a process, past all proxies. */
  getEnvironment(name: string): Record<string, string>;
  /** Never to be read anywhere, by name. */
  secrets: Record<string, string>;
  /** Ends everything; the folder stays where it is asked for. */
  close(keep: boolean): Promise<void>;
}

/** All names that a process may have: each has its own proxy and ports, so that its messages are known. */
const NAMES = [
  'gateway-1',
  ...['ingester', 'packer'].flatMap((role) => [1, 2, 3, 4].map((i) => `${role}-${i}`)),
];

/** Builds the world; everything runs and is ready. */
export async function createWorld(options: SimulationOptions): Promise<World> {
  const closers: (() => unknown)[] = [];
  const directory = await mkdtemp(path.join(tmpdir(), `packhouse-simulation-${options.seed}-`));
  await chmod(directory, 0o755);
  const close = async (keep: boolean): Promise<void> => {
    for (let next = closers.pop(); next !== undefined; next = closers.pop()) await next();
    if (keep) return;
    await removePostgres(path.join(directory, 'postgres'));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    return await build(options, directory, (closer) => closers.push(closer), close);
  } catch (error) {
    await close(true);
    throw error;
  }
}

async function build(
  options: SimulationOptions,
  directory: string,
  onClose: (closer: () => unknown) => void,
  close: World['close'],
): Promise<World> {
  const random = createRandom(options.seed ^ 0x5eed);
  const tally = createTally();
  const triggers = createTriggers();
  const secret = (): string => randomBytes(18).toString('hex');
  const secrets: Record<string, string> = {
    'the S3 secret': secret(),
    'the node key in an address': secret(),
    'the node key in a header': secret(),
  };
  let fleet: Fleet | undefined;
  const kill = (name: string, port: string): void => {
    if (fleet?.kill(name) === true) tally.add(`process: SIGKILL at ${port}`);
  };

  const chain = createHonestChain({
    seed: options.seed,
    first: FIRST_BLOCK,
    length: FIRST_LENGTH + options.steps,
  });
  const nodes = await startNodes(chain, {
    chainId: CHAIN_ID,
    onCall({ path: asked }) {
      const name = asked.split('/')[1] ?? '';
      for (const effect of triggers.hit('node', name)) {
        if (effect.kind !== 'kill') continue;
        if (effect.when === 'before') kill(name, 'a node request');
        else setTimeout(() => kill(name, 'a node answer'), 20);
      }
    },
  });
  onClose(() => nodes.close());

  const store = await startSimulatedStore(({ method, process: name }): ScriptedS3Fault | undefined => {
    let fault: ScriptedS3Fault | undefined;
    for (const effect of triggers.hit('store', name, method)) {
      if (effect.kind === 'store') {
        fault = effect.fault as ScriptedS3Fault;
        tally.add(`store: ${method} ${fault}`);
      }
      if (effect.kind !== 'kill') continue;
      kill(name, 'a store request');
      fault = effect.when === 'before' ? 'resetBefore' : method === 'PUT' ? 'resetAfterWrite' : fault;
    }
    return fault;
  });
  onClose(() => store.close());

  const postgres = await startSimulatedPostgres(directory);
  onClose(() => postgres.stop());
  secrets['the password of Postgres'] = new URL(postgres.url).password;
  await migrate({ connectionString: postgres.url });
  const database = createDatabase({
    connectionString: postgres.url,
    applicationName: OWN_NAME,
    poolSize: 3,
    context: silentContext(),
  });
  onClose(() => database.close());
  await database.networks.register({ id: NETWORK, chainId: CHAIN_ID });
  await database.network(NETWORK).backfills.add({
    kinds: [...KINDS],
    from: FIRST_BLOCK,
    to: null,
    priority: 5,
  });
  const { key: apiKey } = await database.keys.create({
    application: OWN_NAME,
    network: null,
    plan: 'unlimited',
  });
  secrets['the API key'] = apiKey.slice('ph_'.length + 8 + 1);

  const redis = options.queue === 'redis' ? await startRedis({ password: secret() }) : undefined;
  if (redis !== undefined) {
    onClose(() => redis.stop());
    secrets['the password of Redis'] = new URL(redis.url).password;
  }
  const queueFaults = redis === undefined ? postgresQueueFaults(postgres) : await redisQueueFaults(redis);
  onClose(() => queueFaults.close());

  const fate = (name: string): StatementFate => {
    let result: StatementFate = { do: 'pass' };
    for (const effect of triggers.hit('postgres', name)) {
      if (effect.kind === 'cut') {
        tally.add(`postgres: connection cut ${effect.when} a statement`);
        result = { do: 'cut', when: effect.when };
      } else if (effect.kind === 'error') {
        tally.add(`postgres: error ${effect.code}`);
        result = { do: 'error', code: effect.code };
      } else if (effect.kind === 'kill' && effect.when === 'before') {
        kill(name, 'a statement');
        result = { do: 'cut', when: 'before' };
      } else if (effect.kind === 'kill') result = { do: 'pass', after: () => kill(name, 'a statement') };
    }
    return result;
  };
  const proxies = new Map<string, PostgresProxy>();
  for (const name of NAMES) proxies.set(name, await createPostgresProxy(postgres, () => fate(name)));
  onClose(() => Promise.all([...proxies.values()].map((proxy) => proxy.close())));

  const file = path.join(directory, 'networks.json');
  await writeFile(file, networksFile(nodes.ports));
  await mkdir(path.join(directory, 'logs'));
  const gatewayPort = await freePort();
  const metricsPorts = new Map<string, number>();
  for (const name of NAMES) if (name !== 'gateway-1') metricsPorts.set(name, await freePort());
  const { PATH = '' } = process.env;
  const getEnvironment = (name: string): Record<string, string> => ({
    PATH,
    HOME: directory,
    PROCESS_NAME: name,
    NODE_KEY: secrets['the node key in an address'] as string,
    NODE_HEADER: secrets['the node key in a header'] as string,
    DATABASE_URL: postgres.url,
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    NETWORKS_FILE: file,
    ...store.env(name, secrets['the S3 secret'] as string),
    HOST: '127.0.0.1',
    PORT: String(gatewayPort),
    SIGNING_KEY_FILE: path.join(directory, 'signing-key.pem'),
    METRICS_PORT: String(metricsPorts.get(name) ?? 0),
    INGEST_CONCURRENCY: String(INGEST_CONCURRENCY),
    NODE_TIMEOUT_MS: '2000',
    HOOK_ALLOWED_ADDRESSES: '127.0.0.1',
    LAKE: 'on',
    LOG_LEVEL: 'debug',
  });
  const running = createFleet({
    counts: { gateway: 1, ingester: 2, packer: 2 },
    logs: path.join(directory, 'logs'),
    environment: (name) => ({
      ...getEnvironment(name),
      DATABASE_URL: throughProxy(postgres.url, proxies.get(name)?.port as number),
    }),
  });
  fleet = running;
  onClose(() => running.stop());
  await running.ready();

  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  const baseUrl = `${gatewayUrl}/${NETWORK}/v1/`;
  const memory = sampleMemory(() => running.pids());
  onClose(() => memory.stop());
  const watcher = startWatcher({ database, network: NETWORK, chain, readObject: store.read });
  onClose(() => watcher.stop());
  const downloader = startDownloader({
    access: () => ({ baseUrl, apiKey }),
    chain,
    random: createRandom(options.seed ^ 0xd0),
  });
  onClose(() => downloader.stop());
  const follower = startFollower({ baseUrl, apiKey, chain, random: createRandom(options.seed ^ 0xfeed) });
  onClose(() => follower.stop());
  const hookReceiver = await startHookReceiver({
    database,
    network: NETWORK,
    gatewayUrl,
    apiKey,
    chain,
    random: createRandom(options.seed ^ 0x400c),
  });
  onClose(() => hookReceiver.stop());
  return {
    options,
    directory,
    random,
    chain,
    nodes,
    postgres,
    proxies,
    store,
    queueFaults,
    redis,
    triggers,
    fleet: running,
    database,
    tally,
    memory,
    watcher,
    downloader,
    follower,
    hookReceiver,
    gatewayUrl,
    baseUrl,
    apiKey,
    metricsPorts,
    getEnvironment,
    secrets,
    close,
  };
}

function throughProxy(url: string, port: number): string {
  const address = new URL(url);
  address.port = String(port);
  return address.href;
}
