import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase, type Database } from '@packhouse/database';
import {
  freePort,
  freshDatabase,
  type LocalPostgres,
  type Program,
  type Scope,
  silentContext,
  startPostgres,
  temporaryDirectory,
} from '@packhouse/local';
import { getOutput, startNode, startReplay } from '@packhouse/rig';

/** A database, a folder, and the nodes of a case. */
export interface Ground {
  directory: string;
  /** Folder of the objects. */
  objects: string;
  databaseUrl: string;
  database: Database;
  /** Of the victims, which is never too fast; of clients that misbehave, never too fast, and of the plan `free`. */
  keys: { victim: string; unlimited: string; free: string };
}

/** The folders of a gateway's plain node, which answers each network in its own way: see scripted-node.ts. */
const SCRIPTED = ['main', 'slow', 'cut', 'forged', 'bomb', 'large'] as const;
/** Asked without a key. */
const OPEN = 'open';

/** Makes a migrated database on a Postgres, and a folder; both are removed with the scope. */
export async function openGround(scope: Scope, postgresUrl: string): Promise<Ground> {
  const directory = await temporaryDirectory(scope, 'attack');
  const objects = path.join(directory, 'objects');
  await mkdir(objects);
  const fresh = await freshDatabase(postgresUrl, { migrated: true });
  scope.defer(() => fresh.drop());
  const stop = new AbortController();
  const database = createDatabase({
    connectionString: fresh.url,
    context: silentContext({ signal: stop.signal }),
    applicationName: 'attack',
  });
  scope.defer(async () => {
    stop.abort();
    await database.close();
  });
  const keyOf = async (plan: string): Promise<string> =>
    (await database.keys.create({ application: plan, network: null, plan })).key;
  const keys = {
    victim: await keyOf('unlimited'),
    unlimited: await keyOf('unlimited'),
    free: await keyOf('free'),
  };
  return { directory, objects, databaseUrl: fresh.url, database, keys };
}

/** Starts an embedded Postgres that ends with the scope. */
export async function openPostgres(scope: Scope): Promise<LocalPostgres> {
  const directory = await temporaryDirectory(scope, 'attack');
  const postgres = await startPostgres({ directory: path.join(directory, 'postgres') });
  scope.defer(() => postgres.stop());
  return postgres;
}

/** Settings of a service of the case. */
export async function serviceEnvironment(
  ground: Ground,
  networks: readonly object[],
): Promise<Record<string, string>> {
  const file = path.join(ground.directory, 'networks.json');
  await writeFile(file, JSON.stringify({ networks }));
  return {
    DATABASE_URL: ground.databaseUrl,
    NETWORKS_FILE: file,
    OBJECT_STORE: ground.objects,
    SIGNING_KEY_FILE: path.join(ground.directory, 'signing-key.pem'),
    LOG_LEVEL: 'warn',
  };
}

/** Starts two scripted nodes and returns the networks that they answer: what victims ask has a node of its own. */
export async function scriptedNetworks(scope: Scope): Promise<object[]> {
  const start = (): Promise<string> =>
    startNode(scope, 'test/attack/dist/programs/scripted-node.js').firstLine();
  const [own, shared] = await Promise.all([start(), start()]);
  return [...SCRIPTED, OPEN].map((id) => ({
    id,
    family: 'evm',
    chainId: 1,
    upstreams: [{ url: `${id === 'main' ? own : shared}/${id}` }],
    bundles: { enabled: false },
    rpc: { open: id === OPEN },
  }));
}

/** A chain of a replay node in a process of its own, as a network whose bundles are made. */
interface ReplayedChain {
  network: Readonly<Record<string, unknown>> & { id: string };
  first: number;
  last: number;
}

/** Starts a replay node; `fields` of its upstream and of the network replace the usual ones. */
export async function replayedChain(
  scope: Scope,
  length: number,
  fields: { upstream?: object; network?: object } = {},
): Promise<ReplayedChain> {
  const { url, first, last } = await startReplay(scope, ['--generate', '12', '--extend', String(length)]);
  const upstreams = [{ url, ...fields.upstream }];
  return { network: { id: 'main', family: 'evm', chainId: 1, upstreams, ...fields.network }, first, last };
}

/** Publishes a whole chain with `packhouse local --once`. */
export async function publishChain(scope: Scope, ground: Ground, chain: ReplayedChain): Promise<void> {
  const env = await serviceEnvironment(ground, [chain.network]);
  const range = ['--from', String(chain.first), '--to', String(chain.last)];
  const where = ['--port', String(await freePort()), '--data-dir', ground.directory];
  const run = startCli(scope, ground, ['local', ...range, '--once', '--json', ...where], {
    NETWORKS_FILE: env.NETWORKS_FILE as string,
  });
  await getOutput(run);
}

/** Starts the command line program on the case's database. */
export function startCli(
  scope: Scope,
  ground: Ground,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: { readStdout?: boolean } = {},
): Program {
  const all = { DATABASE_URL: ground.databaseUrl, ...env };
  return startNode(scope, 'apps/cli/dist/main.js', args, all, options);
}
