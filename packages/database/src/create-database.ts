import type { BlockRange, Kind } from '@packhouse/chain';
import type { Signer } from '@packhouse/manifest';
import { type Context, getOrAdd } from '@packhouse/runtime';
import { createBlockingCheck } from './connection/blocking-sessions.js';
import { type Connections, createConnections, statement } from './connection/connections.js';
import type { ConnectionLimits } from './connection/connector.js';
import { createLeases, type Fence } from './connection/leases.js';
import { ALL_BLOCKS, announcing, createNotices, type NoticeListener } from './connection/notices.js';
import { countHoles } from './coverage/count-holes.js';
import { createCoverage } from './coverage/coverage.js';
import { createHoles } from './coverage/holes.js';
import { createLocate } from './coverage/locate.js';
import { readPaces } from './coverage/paces.js';
import { readStandings } from './coverage/standing.js';
import { createWaitingFacts } from './coverage/waiting-facts.js';
import { createFeedReads } from './feed/feed.js';
import { createHistory } from './history/history.js';
import { adoptBundle, keepKey, type Restored, restoreEntry } from './publish/adopt.js';
import { createOriginIds } from './publish/origins.js';
import { type PublishTools, publish, type Sealing } from './publish/publish.js';
import { sealPending } from './publish/seal-pending.js';
import { supersede } from './publish/supersede.js';
import { checkSchema } from './schema/check-schema.js';
import { type ClientNames, createClientNames } from './staging/client-names.js';
import { createAllStaging, createStaging } from './staging/staging.js';
import { createApplications } from './tables/gateway/applications.js';
import { createFilters } from './tables/gateway/filters.js';
import { createKeyRequests } from './tables/gateway/key-requests.js';
import { createKeys } from './tables/gateway/keys.js';
import { createNft } from './tables/gateway/nft.js';
import { createPlans } from './tables/gateway/plans.js';
import { createTips } from './tables/gateway/tips.js';
import { createUsage } from './tables/gateway/usage.js';
import { createAlarms } from './tables/networks/alarms.js';
import { createHead } from './tables/networks/head.js';
import { createNetworks, networkRef } from './tables/networks/networks.js';
import { createPressure } from './tables/networks/pressure.js';
import { createBudgets } from './tables/operators/budgets.js';
import { createChanges } from './tables/operators/changes.js';
import { createChannelMessages } from './tables/operators/channel-messages.js';
import { createChannels } from './tables/operators/channels.js';
import { createConditions } from './tables/operators/conditions.js';
import { createHookDeliveries } from './tables/operators/hook-deliveries.js';
import { createHooks } from './tables/operators/hooks.js';
import { createNodes } from './tables/operators/nodes.js';
import { createOperators } from './tables/operators/operators.js';
import { createSchedules } from './tables/operators/schedules.js';
import { createSignIns } from './tables/operators/sign-ins.js';
import { createSpending } from './tables/operators/spending.js';
import { createWorkers } from './tables/operators/workers.js';
import { createAudit } from './tables/published/audit.js';
import { createBundleFilters } from './tables/published/bundle-filters.js';
import { createAllBundles, createBundles, type NewBundle } from './tables/published/bundles.js';
import { createLake } from './tables/published/lake.js';
import { createLakeControl } from './tables/published/lake-control.js';
import { createLakeLog } from './tables/published/lake-log.js';
import { createManifest, createSigningKeys } from './tables/published/manifest.js';
import { createStoredLog, unstoredLogs } from './tables/published/stored-log.js';
import { createAllBackfills, createBackfills } from './tables/requested/backfills.js';
import { createAllQuarantine, createQuarantine } from './tables/requested/quarantine.js';

const PING_MS = 2_000;
const ping = statement('ping', 'SELECT 1');

/** Everything that Packhouse keeps in Postgres. Every method throws DATABASE_UNAVAILABLE if Postgres is unreachable. */
export interface Database extends ReturnType<typeof openAll> {}

/**
 * The data of one network. For a name that was never registered, reads find nothing and writes throw NETWORK_UNKNOWN.
 */
export interface NetworkDatabase extends ReturnType<typeof openNetwork> {}

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
  /** Sends a notice of changes to the processes that wait for them; default: NOTIFY. */
  sendNotice?: ((text: string) => Promise<unknown>) | undefined;
}): Database {
  return openAll(createConnections(options), options.context, options.sendNotice);
}

function openAll(
  connections: Connections,
  context: Context,
  sendNotice?: (text: string) => Promise<unknown>,
) {
  const tools: PublishTools = { connections, origins: createOriginIds(connections), tips: new Map() };
  const notices = createNotices(connections, context, sendNotice);
  const clients = createClientNames(connections);
  const alarms = createAlarms(connections, context.metrics);
  const locks = createLeases(connections);
  const networks = new Map<string, NetworkDatabase>();
  return {
    /** See checkSchema. */
    checkSchema: () => checkSchema(connections),
    /** Whether a trivial query is answered within 2 s. */
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
    /** See Connections. */
    incarnation: connections.incarnation,
    networks: createNetworks(connections),
    /**
     * The data of one network, by the name it is registered under. With a fence, changes of its head and drops of
     * staged blocks throw LEASE_LOST once the lease is not held any more.
     */
    network: (id: string, fence?: Fence): NetworkDatabase =>
      fence === undefined
        ? getOrAdd(networks, id, () => openNetwork(tools, clients, alarms, notices, id))
        : openNetwork(tools, clients, alarms, notices, id, fence),
    backfills: {
      ...createAllBackfills(connections),
      ...createWaitingFacts(connections),
      /** See countHoles. */
      counts: (requests: Parameters<typeof countHoles>[1], hints: Parameters<typeof countHoles>[2]) =>
        countHoles(connections, requests, hints),
      /** See readPaces. */
      paces: (requests: Parameters<typeof readPaces>[1]) => readPaces(connections, requests),
    },
    alarms: alarms.all,
    staging: createAllStaging(connections),
    bundles: createAllBundles(connections),
    manifest: {
      ...createSigningKeys(connections),
      /** See keepKey. */
      keepKey: (publicKey: Buffer) => keepKey(tools, publicKey),
      /** The logs with entries that are not in the object store yet. */
      unstored: () => unstoredLogs(connections),
    },
    quarantine: createAllQuarantine(connections),
    /** How far each network is, by name: one statement, whatever their number. */
    standings: () => readStandings(connections),
    history: createHistory(connections),
    filters: createFilters(connections),
    tips: createTips(connections),
    nft: createNft(connections),
    workers: createWorkers(connections),
    nodes: createNodes(connections),
    changes: createChanges(connections),
    spending: createSpending(connections),
    schedules: createSchedules(connections),
    operators: createOperators(connections),
    signIns: createSignIns(connections),
    hooks: createHooks(connections),
    hookDeliveries: createHookDeliveries(connections),
    budgets: createBudgets(connections),
    conditions: createConditions(connections),
    channels: createChannels(connections),
    channelMessages: createChannelMessages(connections),
    applications: createApplications(connections),
    keys: createKeys(connections),
    keyRequests: createKeyRequests(connections),
    plans: createPlans(connections),
    usage: createUsage(connections),
    /** See createBlockingCheck. */
    endBlocking: createBlockingCheck(connections, context),
    /** Takes a lease; null if another has it. On `release` or when it could not be renewed, `lost` is aborted. */
    tryLock: locks.tryLock,
    /** See `list` of createLeases. */
    locks: locks.list,
    /** Hears of changes, of this process and of all others that use NOTIFY. Returns what ends it. */
    listen: (listener: NoticeListener) => notices.listen(listener),
    close: async () => {
      await notices.flush();
      await Promise.all([locks.close(), connections.close()]);
    },
  };
}

function openNetwork(
  tools: PublishTools,
  clients: ClientNames,
  alarms: ReturnType<typeof createAlarms>,
  notices: Pick<ReturnType<typeof createNotices>, 'announce'>,
  name: string,
  fence?: Fence,
) {
  const { connections } = tools;
  const network = networkRef(connections, name);
  const bundles = createBundles(connections, network);
  const announce = ({ firstBlock, lastBlock }: BlockRange): void =>
    notices.announce({ network: name, firstBlock, lastBlock });
  const staging = createStaging(connections, network, clients, fence);
  const head = createHead(connections, network, fence);
  const quarantine = createQuarantine(connections, network);
  const alarm = alarms.of(network);
  return {
    backfills: createBackfills(connections, network),
    head: {
      ...head,
      set: announcing(head.set, announce, ({ finalized, number }) => ({
        firstBlock: Math.min(Math.max(finalized, 0), number),
        lastBlock: number,
      })),
    },
    alarms: {
      ...alarm,
      raise: announcing(alarm.raise, announce, () => ALL_BLOCKS),
      clear: announcing(alarm.clear, announce, () => ALL_BLOCKS),
    },
    staging: {
      ...staging,
      stage: announcing(staging.stage, announce, ({ blocks }) => ({
        firstBlock: blocks[0]?.number ?? 0,
        lastBlock: blocks.at(-1)?.number ?? 0,
      })),
      abandon: announcing(staging.abandon, announce, (firstBlock) => ({ ...ALL_BLOCKS, firstBlock })),
    },
    bundleFilters: createBundleFilters(connections, network),
    /** The tables of the lake. */
    lake: { ...createLake(connections, network), ...createLakeControl(connections, network) },
    /** The signed logs of these tables. */
    lakeLog: createLakeLog(connections, network),
    bundles: {
      ...bundles,
      /** See publish. */
      publish: announcing(
        async (bundle: NewBundle, sealing?: Sealing) =>
          publish(tools, await network.get(), { ...bundle, network: name }, sealing),
        announce,
        (bundle) => bundle,
      ),
      /** See supersede. */
      supersede: announcing(
        async (bundle: NewBundle, how: Parameters<typeof supersede>[3]) =>
          supersede(tools, await network.get(), { ...bundle, network: name }, how),
        announce,
        (bundle) => bundle,
      ),
    },
    manifest: {
      ...createManifest(connections, network),
      ...createStoredLog(connections, network),
      /** See sealPending. */
      sealPending: async (kind: Kind, signer: Signer, limit: number) => {
        const sealed = await sealPending(
          tools,
          { networkId: await network.find(), network: name, kind },
          signer,
          limit,
        );
        if (sealed > 0) announce(ALL_BLOCKS);
        return sealed;
      },
      /** See restoreEntry. */
      restore: async (kind: Kind, restored: Restored) =>
        restoreEntry(tools, { networkId: await network.get(), network: name, kind }, restored),
      /** See adoptBundle. */
      adopt: async (kind: Kind, lost: Parameters<typeof adoptBundle>[2], signer: Signer | undefined) =>
        adoptBundle(tools, { networkId: await network.get(), network: name, kind }, lost, signer),
    },
    /** Finds one block, in bundles first. */
    locate: createLocate(connections, network, bundles),
    ...createCoverage(connections, network),
    /** Coverage for operators: what is not published and why, a page at a time. */
    holes: createHoles(connections, network),
    quarantine: {
      ...quarantine,
      put: announcing(quarantine.put, announce, ({ firstBlock, lastBlock = firstBlock }) => ({
        firstBlock,
        lastBlock,
      })),
      settle: announcing(quarantine.settle, announce, (range) => range),
    },
    pressure: createPressure(connections, network),
    audit: createAudit(connections, network),
    feed: createFeedReads(connections, network),
  };
}
