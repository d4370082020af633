import { PackhouseError } from '@packhouse/runtime';
import { createAddressLimiter } from './access/address-limiter.js';
import { createAdmission } from './access/admission.js';
import { createKeyCache } from './access/key-cache.js';
import { createKeyLog } from './access/key-log.js';
import { createQuotas } from './access/quotas.js';
import { createRateLimiter } from './access/rate-limiter.js';
import { createLocalSeconds } from './access/seconds.js';
import { createUsageCounts } from './access/usage-counts.js';
import { createAnswerCache } from './cache/answer-cache.js';
import { createBodyCache } from './cache/body-cache.js';
import { createFeeds } from './feeds/create-feeds.js';
import { createBoundedStore } from './files/bounded-store.js';
import { createFileFinder } from './files/find-file.js';
import type { FilterStore } from './filters/filter-state.js';
import type { GatewayOptions } from './gateway-options.js';
import { createBodyMemory } from './http/body.js';
import { createPacer, type Pacer } from './http/paced-pieces.js';
import { createCatalog } from './lake/catalog.js';
import { createCachedCoverage } from './pointers/cached-coverage.js';
import { createPointerFinder, loadRanges } from './pointers/find-pointer.js';
import { createRangeCache, type RangeCache } from './pointers/range-cache.js';
import { warmRanges } from './pointers/warm-ranges.js';
import type { GatewayParts } from './routes/common/gateway-parts.js';
import { createAnswerMemory } from './rpc/answer-memory.js';
import { createCallMetrics } from './rpc/call-metrics.js';

/** Creates the parts that all networks share: admission, caches, and the finders of pointers and files. */
export function createParts(options: GatewayOptions): {
  parts: GatewayParts;
  filters: FilterStore;
  pacer: Pacer;
  /** Resolves when as much of the range index is loaded as the options say; /readyz fails until then. */
  warmed: Promise<void>;
  close(): Promise<void>;
} {
  const { context, database, objectStore } = options;
  const { clock } = context;
  requirePresign(options);
  const filters = options.filters ?? database.filters;
  const { close: closeAccess, ...access } = createAccess(options);
  const ranges = createRangeCache({
    load: (network, kind, range) => loadRanges(database, network, kind, range),
    clock,
    incarnation: database.incarnation,
    maxBytes: options.rangeCacheBytes,
  });
  const bodies = createBodyCache({ maxBytes: options.fileCacheBytes ?? 67_108_864 });
  const coverage = createCachedCoverage({ database, queue: options.queue, clock });
  const pacer = createPacer();
  const store = createBoundedStore(objectStore, options.storeTimeoutMs);
  const files = createFileFinder({
    context,
    database,
    store,
    bodies,
    pacer,
    redirect: options.downloads === 'redirect',
  });
  const feeds = createFeeds(options);
  const answers = createAnswerCache(options.answerCacheBytes ?? 67_108_864, options.sharedAnswers);
  const answerMemory = createAnswerMemory(options.answerMemoryBytes ?? 268_435_456);
  const bodyMemory = createBodyMemory(options.bodyMemoryBytes ?? 67_108_864);
  const memory = { ranges, files: bodies, answers, held: answerMemory, requests: bodyMemory };
  context.metrics.gauge('packhouse_gateway_cache_bytes', 'Bytes held by a cache.', ['cache'], (gauge) => {
    for (const [cache, { bytes }] of Object.entries(memory)) gauge.set({ cache }, bytes);
  });
  const phase = {
    warming: (options.warmLimitMs ?? 0) > 0 || options.othersReady !== undefined,
    leaving: false,
    draining: false,
  };
  const stop = new AbortController();
  const warmed = phase.warming ? warm(options, ranges, phase, stop.signal) : Promise.resolve();
  return {
    filters,
    pacer,
    warmed,
    parts: {
      context,
      database,
      objectStore,
      store,
      ...access,
      pointers: createPointerFinder({ database, ranges, coverage }),
      files,
      catalog: createCatalog({ database, clock }),
      pacer,
      coverage,
      feeds,
      feedsPerKey: options.feedsPerKey ?? 1_000,
      phase,
      networksFileOk: options.networksFileOk ?? (() => true),
      answers,
      answerMemory,
      bodyMemory,
      bodyLimits: { keyed: options.bodyBytes ?? 1_048_576, open: options.openBodyBytes ?? 65_536 },
      batchCalls: options.batchCalls ?? 1_000,
      tips: options.tips ?? database.tips,
      spending: options.spending,
      reports: options.reports,
      callMetrics: createCallMetrics(context.metrics, () => filters.count()),
      publicMetrics: options.publicMetrics ?? false,
    },
    async close() {
      await feeds.close();
      files.close();
      stop.abort();
      await warmed;
      ranges.close();
      await ranges.settled();
      await closeAccess();
    },
  };
}

/** The parts that admit and count requests. */
function createAccess({ context, database, seconds, addressSeconds, openRate, usageDays }: GatewayOptions) {
  const { clock } = context;
  const quotas = createQuotas(clock);
  const usage = createUsageCounts({
    context,
    usage: database.usage,
    onTotals: quotas.update,
    keepDays: usageDays ?? 400,
  });
  const rateLimiter = createRateLimiter(seconds ?? createLocalSeconds(clock), quotas);
  const addressLimiter = createAddressLimiter(addressSeconds ?? createLocalSeconds(clock), openRate);
  const keyLog = createKeyLog({ context, keyRequests: database.keyRequests });
  const keys = createKeyCache({ ...database.keys, clock });
  return {
    admission: createAdmission({ keys, rateLimiter, addressLimiter, usage, clock }),
    addressLimiter,
    quotas,
    usage,
    keyLog,
    async close() {
      await keyLog.close();
      await usage.close();
      await rateLimiter.close();
    },
  };
}

/** Loads the range index as far as the options allow; ends the warming phase when the other workers are ready too. */
async function warm(
  { context, database, networks, warmLimitMs = 0, othersReady }: GatewayOptions,
  ranges: RangeCache,
  phase: { warming: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (warmLimitMs > 0) {
    await warmRanges({ context, database, networks, ranges, limitMs: warmLimitMs, signal });
  }
  // Not awaited: the others wait until they hear that this one is warm.
  void (othersReady ?? Promise.resolve()).then(() => {
    phase.warming = false;
  });
}

/** Throws SETTINGS_INVALID if clients cannot be redirected to the object store. */
function requirePresign({ downloads, objectStore }: GatewayOptions): void {
  if (downloads !== 'redirect' || objectStore.presign !== undefined) return;
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: `DOWNLOADS=redirect needs an S3 object store (s3://bucket/prefix); OBJECT_STORE is ${objectStore.description}.`,
    hint: 'Set DOWNLOADS=stream.',
  });
}
