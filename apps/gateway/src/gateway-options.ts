import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { NftOptions } from '@packhouse/nft';
import type { NodeReports, SharedTips, Spending } from '@packhouse/node-rpc';
import type { ObjectStore } from '@packhouse/object-store';
import type { QueueReader } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import type { SecondLimiter } from './access/rate-limiter.js';
import type { SharedAnswers } from './cache/answer-cache.js';
import type { FilterStore } from './filters/filter-state.js';
import type { LoggedRequests } from './http/request-log.js';

export interface GatewayOptions {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  networks: readonly Network[];
  /** Public address of this server, without a slash at the end; default: host and port of `listen`. */
  publicUrl?: string | undefined;
  /** Counts the second of a key; default: in this process. */
  seconds?: SecondLimiter;
  /** Counts the second of an address; default: in this process. */
  addressSeconds?: SecondLimiter;
  /** Resolves when the other workers of this gateway are ready too; /readyz fails until then. Default: there are none. */
  othersReady?: Promise<void>;
  /** Days that usage is kept. Default 400. */
  usageDays?: number;
  /** For coverage, which needs it to tell what is queued or being fetched. The gateway does not close it. */
  queue?: QueueReader;
  /** Memory for the range index; 8 bytes a bundle. Default 128 MiB. */
  rangeCacheBytes?: number;
  /** How long /readyz waits for the range index to be loaded, in milliseconds; default: it is not loaded ahead. */
  warmLimitMs?: number;
  /** Memory for files. Default 64 MiB. */
  fileCacheBytes?: number;
  /** Whether files go through the gateway, or clients are led to the object store. Default: through the gateway. */
  downloads?: 'stream' | 'redirect';
  /** How long the object store may take for a file, or for the next piece of a large one. Default 15 s. */
  storeTimeoutMs?: number;
  /** Memory for results about final blocks. Default 64 MiB. */
  answerCacheBytes?: number;
  /** Memory for answers that are held whole until they are sent; calls wait if it is full. Default 256 MiB. */
  answerMemoryBytes?: number;
  /** Memory for bodies of requests that are not answered yet; refused with 503 if it is full. Default 64 MiB. */
  bodyMemoryBytes?: number;
  /** Bytes of a JSON-RPC body at most, with a key. Default 1 MiB. */
  bodyBytes?: number;
  /** Bytes of a JSON-RPC body at most, without a key. Default 64 KiB. */
  openBodyBytes?: number;
  /** Calls in a JSON-RPC batch at most. Default 1,000. */
  batchCalls?: number;
  /** The store of filters; default: the database. */
  filters?: FilterStore;
  /** The newest block numbers that all gateways told; default: in the database. */
  tips?: SharedTips;
  /** Counts the requests to nodes; default: they are not counted. */
  spending?: Spending;
  /** Told what is known of nodes, and tells which are cordoned; default: nobody. */
  reports?: NodeReports;
  /** Results about final blocks, shared with other gateways; default: none. */
  sharedAnswers?: SharedAnswers;
  /** Requests a second from one address to networks that need no key. Default 25. */
  openRate?: number;
  /** The proxies trusted to name a client's address: how many, or their addresses. Default: none. */
  trustProxy?: number | string[] | undefined;
  /** Whether the current networks file is the one being served, for /readyz; default: it is. */
  networksFileOk?: () => boolean;
  /** How tokens of the core family are refreshed. */
  nft?: NftOptions | undefined;
  /** The requests that are logged at level info. Default: all. */
  logRequests?: LoggedRequests;
  /** Whether /metrics is served beside everything else: it names keys by their prefixes. Default: no. */
  publicMetrics?: boolean;
  /** Connections beyond this many are refused. Default 10,000. */
  maxConnections?: number;
  /** Connections from one address beyond this many are refused, except those of trusted proxies. Default 1,000. */
  connectionsPerAddress?: number;
}
