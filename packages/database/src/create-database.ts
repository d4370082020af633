import { type Context, PackhouseError } from '@packhouse/runtime';
import { createAlarms } from './alarms/alarms.js';
import { createAudit } from './audit/audit.js';
import { createBundles } from './bundles/bundles.js';
import { createConnections } from './connection/connections.js';
import { databaseAddress } from './connection/database-error.js';
import { statement } from './connection/statement.js';
import { createCoverage } from './coverage/coverage.js';
import { createHoles } from './coverage/create-holes.js';
import { createLocate } from './coverage/locate.js';
import type { Database } from './database.js';
import { createFilters } from './filters/filters.js';
import { createHead } from './head/head.js';
import { createKeys } from './keys/keys.js';
import { createTryLock } from './locks/try-lock.js';
import { createManifest } from './manifest/manifest.js';
import { createOriginIds } from './manifest/origins.js';
import { createNetworkIds, createNetworks } from './networks/networks.js';
import { createNft } from './nft/create-nft.js';
import { createPressure } from './pressure/pressure.js';
import { createQuarantine } from './quarantine/quarantine.js';
import { missingMigrations } from './schema/compare-schema.js';
import { migrationNames } from './schema/migration-files.js';
import { selectApplied } from './schema/select-applied.js';
import { createStaging } from './staging/staging.js';
import { createWanted } from './wanted/wanted.js';

const PING_MS = 2_000;
const ping = statement('ping', 'SELECT 1');

/**
 * Connects the database port to Postgres; the first connection is made by the first question.
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
  const origins = createOriginIds(connections);
  return {
    checkSchema: async () => {
      const applied = await connections.session(({ client }) => selectApplied(client));
      const missing = missingMigrations(applied, await migrationNames());
      if (missing.length === 0) return;
      throw new PackhouseError({
        code: 'DATABASE_NOT_MIGRATED',
        message: `The schema in ${databaseAddress(options.connectionString)} is older than this program: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing.`,
        hint: 'Run `packhouse migrate`.',
        data: { missing },
      });
    },
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
    bundles: createBundles(connections, ids, origins),
    manifest: createManifest(connections, ids, origins),
    locate: createLocate(connections, ids),
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
