import type { Context } from '@packhouse/runtime';
import { type ConnectionLimits, createConnections, statement } from './connection/connections.js';
import { createTryLock } from './connection/try-lock.js';
import type { Database, NetworkDatabase } from './contract/database.js';
import { createCoverage } from './coverage/coverage.js';
import { createHoles } from './coverage/holes.js';
import { createLocate } from './coverage/locate.js';
import { readStandings } from './coverage/standing.js';
import { createOriginIds } from './publish/origins.js';
import { type PublishTools, publish } from './publish/publish.js';
import { sealPending } from './publish/seal-pending.js';
import { supersede } from './publish/supersede.js';
import { checkSchema } from './schema/check-schema.js';
import { createClientNames } from './staging/client-names.js';
import { createAllStaging, createStaging } from './staging/staging.js';
import { createAlarms } from './tables/alarms.js';
import { createAudit } from './tables/audit.js';
import { createBudgets } from './tables/budgets.js';
import { createBundleFilters } from './tables/bundle-filters.js';
import { createAllBundles, createBundles } from './tables/bundles.js';
import { createChanges } from './tables/changes.js';
import { createFilters } from './tables/filters.js';
import { createHead } from './tables/head.js';
import { createKeys } from './tables/keys.js';
import { createManifest, createSigningKeys } from './tables/manifest.js';
import { createNetworks, networkRef } from './tables/networks.js';
import { createNft } from './tables/nft.js';
import { createNodes } from './tables/nodes.js';
import { createOperators } from './tables/operators.js';
import { createPlans } from './tables/plans.js';
import { createPressure } from './tables/pressure.js';
import { createAllQuarantine, createQuarantine } from './tables/quarantine.js';
import { createSchedules } from './tables/schedules.js';
import { createSpending } from './tables/spending.js';
import { createTips } from './tables/tips.js';
import { createUsage } from './tables/usage.js';
import { createAllWanted, createWanted } from './tables/wanted.js';
import { createWorkers } from './tables/workers.js';

const PING_MS = 2_000;
const ping = statement('ping', 'SELECT 1');

/**
 * Creates the handle of a Postgres database; the first statement opens the first connection.
 *
 * `poolSize` is the most connections that are open at once (default 10), the one of all locks not counted; `applicationName` is
 * shown in pg_stat_activity. `limits` are for processes whose clients wait.
 */
export function createDatabase(options: {
  connectionString: string;
  context: Context;
  poolSize?: number;
  applicationName: string;
  limits?: ConnectionLimits;
}): Database {
  const connections = createConnections(options);
  const tools: PublishTools = { connections, origins: createOriginIds(connections), tips: new Map() };
  const clients = createClientNames(connections);
  const alarms = createAlarms(connections, options.context.metrics);
  const locks = createTryLock(connections);
  const networks = new Map<string, NetworkDatabase>();
  const open = (name: string): NetworkDatabase => {
    const network = networkRef(connections, name);
    const bundles = createBundles(connections, network);
    return {
      wanted: createWanted(connections, network),
      head: createHead(connections, network),
      alarms: alarms.of(network),
      staging: createStaging(connections, network, clients),
      bundleFilters: createBundleFilters(connections, network),
      bundles: {
        ...bundles,
        publish: async (bundle, sealing) =>
          publish(tools, await network.get(), { ...bundle, network: name }, sealing),
        supersede: async (bundle, how) =>
          supersede(tools, await network.get(), { ...bundle, network: name }, how),
      },
      manifest: {
        ...createManifest(connections, network),
        sealPending: async (kind, signer, limit) =>
          sealPending(tools, { networkId: await network.find(), network: name, kind }, signer, limit),
      },
      locate: createLocate(connections, network, bundles),
      ...createCoverage(connections, network),
      holes: createHoles(connections, network),
      quarantine: createQuarantine(connections, network),
      pressure: createPressure(connections, network),
      audit: createAudit(connections, network),
    };
  };
  return {
    checkSchema: () => checkSchema(connections),
    ping: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), PING_MS);
      });
      const answered = connections.query(ping, [], PING_MS).then(
        () => true,
        () => false,
      );
      const alive = await Promise.race([answered, late]);
      clearTimeout(timer);
      return alive;
    },
    networks: createNetworks(connections),
    network: (id) => {
      const known = networks.get(id) ?? open(id);
      networks.set(id, known);
      return known;
    },
    wanted: createAllWanted(connections),
    alarms: alarms.all,
    staging: createAllStaging(connections),
    bundles: createAllBundles(connections),
    manifest: createSigningKeys(connections),
    quarantine: createAllQuarantine(connections),
    standings: () => readStandings(connections),
    filters: createFilters(connections),
    tips: createTips(connections),
    nft: createNft(connections),
    workers: createWorkers(connections),
    nodes: createNodes(connections),
    changes: createChanges(connections),
    spending: createSpending(connections),
    schedules: createSchedules(connections),
    operators: createOperators(connections),
    budgets: createBudgets(connections),
    keys: createKeys(connections),
    plans: createPlans(connections),
    usage: createUsage(connections),
    tryLock: locks.tryLock,
    close: async () => {
      await Promise.all([locks.close(), connections.close()]);
    },
  };
}
