import type { Database } from '@packhouse/database';
import type { NodeReports, SharedTips, Spending } from '@packhouse/node-rpc';
import type { ObjectStore } from '@packhouse/object-store';
import type { CoverageParts } from '@packhouse/report';
import type { Context } from '@packhouse/runtime';
import type { AddressLimiter } from '../../access/address-limiter.js';
import type { Admission } from '../../access/admission.js';
import type { KeyLog } from '../../access/key-log.js';
import type { Quotas } from '../../access/quotas.js';
import type { UsageCounts } from '../../access/usage-counts.js';
import type { AnswerCache } from '../../cache/answer-cache.js';
import type { Feeds } from '../../feeds/create-feeds.js';
import type { BoundedStore } from '../../files/bounded-store.js';
import type { FileFinder } from '../../files/find-file.js';
import type { BodyMemory } from '../../http/body.js';
import type { Pacer } from '../../http/paced-pieces.js';
import type { Catalog } from '../../lake/catalog.js';
import type { PointerFinder } from '../../pointers/find-pointer.js';
import type { AnswerMemory } from '../../rpc/answer-memory.js';
import type { CallMetrics } from '../../rpc/call-metrics.js';

/** Services that the routes of all networks share; each route picks those that it needs. */
export interface GatewayParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** The same; its reads take a bounded time. */
  store: BoundedStore;
  admission: Admission;
  addressLimiter: AddressLimiter;
  quotas: Quotas;
  usage: UsageCounts;
  keyLog: KeyLog;
  pointers: PointerFinder;
  files: FileFinder;
  /** The tables of the lake. */
  catalog: Catalog;
  pacer: Pacer;
  coverage: CoverageParts;
  feeds: Feeds;
  /** Feeds that a key may have open. */
  feedsPerKey: number;
  phase: {
    /** /readyz fails, because the range index is being loaded. */
    warming: boolean;
    /** /readyz fails, so that no more requests are sent: the gateway is shutting down, or about to. */
    leaving: boolean;
    /** The gateway is shutting down: requests are refused. */
    draining: boolean;
  };
  /** Whether the current networks file is the one being served. */
  networksFileOk(): boolean;
  /** Results about final blocks. */
  answers: AnswerCache;
  /** The newest block numbers that any gateway has seen. */
  tips: SharedTips;
  spending: Spending | undefined;
  reports: NodeReports | undefined;
  /** Counts the answers that are buffered whole. */
  answerMemory: AnswerMemory;
  /** Counts the bodies of requests until they are answered. */
  bodyMemory: BodyMemory;
  /** Bytes of a JSON-RPC body at most, with a key and without one. */
  bodyLimits: { readonly keyed: number; readonly open: number };
  /** Calls in a batch at most. */
  batchCalls: number;
  /** Counts the calls of a network. */
  callMetrics(network: string): CallMetrics;
  /** Whether /metrics is a route. */
  publicMetrics: boolean;
}
