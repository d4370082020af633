import type { Database } from '@packhouse/database';
import type { ChangeSource } from '@packhouse/feed';
import type { Network } from '@packhouse/networks';
import { toNftOptions } from '@packhouse/nft';
import type { NodeReports, SharedTips, Spending } from '@packhouse/node-rpc';
import type { ObjectStore } from '@packhouse/object-store';
import type { QueueReader } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import type { SecondLimiter } from './access/rate-limiter.js';
import type { SharedAnswers } from './cache/answer-cache.js';
import type { FilterStore } from './filters/filter-state.js';
import type { GatewaySettings } from './settings.js';

/** The options of a gateway: its parts, and of its settings (see settings.ts) those that are not at their defaults. */
export interface GatewayOptions extends Partial<ReturnType<typeof toGatewayOptions>> {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  networks: readonly Network[];
  /** Counts the second of a key; default: in this process. */
  seconds?: SecondLimiter | undefined;
  /** Counts the second of an address; default: in this process. */
  addressSeconds?: SecondLimiter | undefined;
  /** Resolves when the other workers of this gateway are ready too; /readyz fails until then. Default: there are none. */
  othersReady?: Promise<void> | undefined;
  /** For coverage, which needs it to tell what is queued or being fetched. The gateway does not close it. */
  queue?: QueueReader;
  /** Where feeds hear of changes. The gateway does not close it. Default: over LISTEN. */
  changes?: ChangeSource;
  /** How long the object store may take for a file, or for the next piece of a large one. Default 15 s. */
  storeTimeoutMs?: number;
  /** The store of filters; default: the database. */
  filters?: FilterStore;
  /** The newest block numbers that any gateway has seen; default: in the database. */
  tips?: SharedTips;
  /** Counts the requests to nodes; default: they are not counted. */
  spending?: Spending;
  /** Gets what is known of nodes, and knows which are cordoned; default: none. */
  reports?: NodeReports;
  /** Results about final blocks, shared with other gateways; default: none. */
  sharedAnswers?: SharedAnswers;
  /** Whether the current networks file is the one being served, for /readyz; default: it is. */
  networksFileOk?: () => boolean;
  /** Whether /metrics is served beside everything else: it names keys by their prefixes. Default: no. */
  publicMetrics?: boolean;
}

/** Connections of a gateway, shared among its workers. */
const MAX_CONNECTIONS = 10_000;

/**
 * The options of one of `workers` processes, which share the memory and the connections of a gateway. Without
 * `warmLimitMs` the range index is not loaded ahead; without `publicUrl` the address is that of `listen`.
 */
export function toGatewayOptions(settings: GatewaySettings, workers: number) {
  const share = (bytes: number): number => Math.floor(bytes / workers);
  return {
    publicUrl: settings.PUBLIC_URL,
    rangeCacheBytes: share(settings.RANGE_CACHE),
    warmLimitMs: settings.WARM_LIMIT_MS,
    downloads: settings.DOWNLOADS,
    fileCacheBytes: share(settings.FILE_CACHE),
    answerCacheBytes: share(settings.ANSWER_CACHE),
    answerMemoryBytes: share(settings.ANSWER_MEMORY),
    bodyMemoryBytes: share(settings.BODY_MEMORY),
    bodyBytes: settings.MAX_BODY,
    openBodyBytes: settings.OPEN_MAX_BODY,
    connectionsPerAddress: Math.ceil(settings.CONNECTIONS_PER_ADDRESS / workers),
    maxConnections: Math.ceil(MAX_CONNECTIONS / workers),
    batchCalls: settings.BATCH_CALLS,
    feedsPerKey: Math.ceil(settings.FEEDS_PER_KEY / workers),
    usageDays: settings.USAGE_DAYS,
    openRate: settings.OPEN_RATE,
    trustProxy: settings.TRUST_PROXY,
    nft: toNftOptions(settings),
    logRequests: settings.LOG_REQUESTS,
  };
}
