import type { Context } from '@packhouse/runtime';
import { createConnections, statement } from './connection/connections.js';
import { createTryLock } from './connection/try-lock.js';
import type { Database } from './contract/database.js';
import { createCoverage } from './coverage/coverage.js';
import { createHoles } from './coverage/holes.js';
import { createLocate } from './coverage/locate.js';
import { createOriginIds } from './publish/origins.js';
import { type PublishTools, publish } from './publish/publish.js';
import { sealPending } from './publish/seal-pending.js';
import { supersede } from './publish/supersede.js';
import { checkSchema } from './schema/check-schema.js';
import { createStaging } from './staging/staging.js';
import { createAlarms } from './tables/alarms.js';
import { createAudit } from './tables/audit.js';
import { createBundles } from './tables/bundles.js';
import { createFilters } from './tables/filters.js';
import { createHead } from './tables/head.js';
import { createKeys } from './tables/keys.js';
import { createManifest } from './tables/manifest.js';
import { createNetworkIds, createNetworks } from './tables/networks.js';
import { createNft } from './tables/nft.js';
import { createPressure } from './tables/pressure.js';
import { createQuarantine } from './tables/quarantine.js';
import { createWanted } from './tables/wanted.js';

const PING_MS = 2_000;
const ping = statement('ping', 'SELECT 1');

/**
 * Connects to Postgres; the first statement makes the first connection.
 *
 * `poolSize` is the most connections that are open at once (default 10), locks not counted; `applicationName` is
 * what pg_stat_activity shows.
 */
export function createDatabase(options: {
  connectionString: string;
  context: Context;
  poolSize?: number;
  applicationName: string;
}): Database {
  const connections = createConnections(options);
  const ids = createNetworkIds(connections);
  const bundles = createBundles(connections, ids);
  const tools: PublishTools = {
    connections,
    origins: createOriginIds(connections),
    tips: new Map(),
    published: (bundle) => bundles.ranges(bundle.network, bundle.kind, bundle),
  };
  return {
    checkSchema: () => checkSchema(connections),
    ping: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), PING_MS);
      });
      const answered = connections.query(ping, []).then(
        () => true,
        () => false,
      );
      const alive = await Promise.race([answered, late]);
      clearTimeout(timer);
      return alive;
    },
    networks: createNetworks(connections),
    wanted: createWanted(connections, ids),
    head: createHead(connections, ids),
    alarms: createAlarms(connections, ids, options.context.metrics),
    staging: createStaging(connections, ids),
    bundles: {
      ...bundles,
      publish: async (bundle, sealing) => publish(tools, await ids.get(bundle.network), bundle, sealing),
      supersede: async (bundle, how) => supersede(tools, await ids.get(bundle.network), bundle, how),
    },
    manifest: {
      ...createManifest(connections, ids),
      sealPending: async (network, kind, signer, limit) =>
        sealPending(tools, { networkId: await ids.find(network), network, kind }, signer, limit),
    },
    locate: createLocate(connections, ids, bundles),
    coverage: createCoverage(connections, ids),
    holes: createHoles(connections, ids),
    quarantine: createQuarantine(connections, ids),
    filters: createFilters(connections),
    nft: createNft(connections),
    pressure: createPressure(connections, ids),
    audit: createAudit(connections, ids),
    keys: createKeys(connections),
    tryLock: createTryLock(connections),
    close: () => connections.close(),
  };
}
