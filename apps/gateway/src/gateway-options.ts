import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { NftOptions } from '@packhouse/nft';
import type { ObjectStore } from '@packhouse/object-store';
import type { QueueReader } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import type { RateLimiter } from './access/rate-limiter.js';
import type { SharedAnswers } from './cache/answer-cache.js';
import type { FilterStore } from './filters/filter-state.js';
import type { LoggedRequests } from './http/request-log.js';

export interface GatewayOptions {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  networks: readonly Network[];
  /** Address under which people reach this server, no slash at the end; default: host and port of `listen`. */
  publicUrl?: string | undefined;
  /** Default: counted in this process. */
  rateLimiter?: RateLimiter;
  /** For coverage, which cannot tell what is queued or being fetched without it; the gateway does not close it. */
  queue?: QueueReader;
  /** Memory for the range index; 8 bytes a bundle. Default 128 MiB. */
  rangeCacheBytes?: number;
  /** Memory for files. Default 64 MiB. */
  fileCacheBytes?: number;
  /** Memory for results about final blocks. Default 64 MiB. */
  answerCacheBytes?: number;
  /** Memory for answers that are held whole until they are sent; beyond it calls wait. Default 256 MiB. */
  answerMemoryBytes?: number;
  /** Where filters live; default: the database. */
  filters?: FilterStore;
  /** Results about final blocks that other gateways know; default: none. */
  sharedAnswers?: SharedAnswers;
  /** Requests a second from one address to networks that want no key. Default 25. */
  openRate?: number;
  /** Whose word about a client's address is believed: how many proxies, or their addresses. Default: nobody's. */
  trustProxy?: number | string[] | undefined;
  /** Whether the networks file is in force as it is, for /readyz; default: it is. */
  networksFileOk?: () => boolean;
  /** How tokens of the core family are refreshed. */
  nft?: NftOptions | undefined;
  /** What is logged of requests at level info. Default: all. */
  logRequests?: LoggedRequests;
  /** Connections beyond this many are refused. Default 10,000. */
  maxConnections?: number;
}
