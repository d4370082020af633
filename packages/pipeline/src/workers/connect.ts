import { createDatabase, type Database, waitForSchema } from '@packhouse/database';
import { type Network, type NetworksWatch, watchNetworks } from '@packhouse/networks';
import { createNodeReports, createRedisLeases, createSpending } from '@packhouse/node-rpc';
import { createQueues, type Queues } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { VERSION } from '../version.js';
import { refuseOtherChains } from './refuse-other-chains.js';
import { createNoticeSender } from './send-notices.js';

/** What a process has when it starts. Everything that is opened here is closed at its shutdown. */
interface Starting<S> {
  settings: S;
  context: Context;
  shutdown: { add(name: string, close: () => unknown): void };
}

interface StoreSettings {
  DATABASE_URL: string;
  REDIS_URL?: string | undefined;
}

/**
 * Connects to Postgres, waits for this version's schema, and notes if the last process of this name had another version.
 * Notices of changes go over Redis if there is one.
 */
export async function connectDatabase(
  { settings, context, shutdown }: Starting<StoreSettings>,
  options: Omit<Parameters<typeof createDatabase>[0], 'connectionString' | 'context'>,
): Promise<Database> {
  const notices = createNoticeSender(context, settings.REDIS_URL);
  shutdown.add('notices', () => notices?.close());
  const database = createDatabase({
    connectionString: settings.DATABASE_URL,
    context,
    sendNotice: notices?.send,
    ...options,
  });
  shutdown.add('database', () => database.close());
  await waitForSchema(database, context);
  await database.history.marks
    .deployed(options.applicationName.replace(/^packhouse /, ''), VERSION)
    .catch((error: unknown) => context.logger.warn({ err: error }, 'the version was not noted'));
  return database;
}

/** Opens the queues of a worker. */
export async function connectQueues({
  settings,
  context,
  shutdown,
}: Starting<StoreSettings & { JOB_LOCK_MS: number; JOBS_KEPT?: number }>): Promise<Queues> {
  const queues = await createQueues({
    redisUrl: settings.REDIS_URL,
    databaseUrl: settings.DATABASE_URL,
    lockMs: settings.JOB_LOCK_MS,
    kept: settings.JOBS_KEPT,
    context,
  });
  shutdown.add('queues', () => queues.close());
  return queues;
}

/** Opens what a process needs that calls nodes: their budgets, the count of its requests, and its reports on nodes. */
export async function connectNodes(
  { settings, context, shutdown }: Starting<StoreSettings>,
  role: Parameters<typeof createNodeReports>[0]['role'],
  database: Database,
) {
  const leases = settings.REDIS_URL === undefined ? undefined : createRedisLeases(settings.REDIS_URL);
  shutdown.add('budgets', () => leases?.close());
  const { budgets, spending: table, nodes } = database;
  const spending = await createSpending({ context, table, budgets, leases: leases ?? budgets });
  shutdown.add('spending', () => spending.close());
  const reports = await createNodeReports({ context, role, table: nodes });
  shutdown.add('node reports', () => reports.close());
  return { spending, reports };
}

/** Puts each change of the networks file in force, if it does not give a stored name to another chain. */
export function followNetworksFile(
  { settings, context, shutdown }: Starting<{ NETWORKS_FILE: string }>,
  env: Record<string, string | undefined>,
  database: Database,
  networks: { inForce: readonly Network[]; replace(changed: readonly Network[]): unknown },
): NetworksWatch {
  const watch = watchNetworks({
    path: settings.NETWORKS_FILE,
    env,
    context,
    networks: networks.inForce,
    async apply(changed, changes) {
      await refuseOtherChains(database, changed, changes);
      await networks.replace(changed);
    },
  });
  shutdown.add('networks file', () => watch.close());
  return watch;
}
