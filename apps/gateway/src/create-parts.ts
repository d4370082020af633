import { PackhouseError } from '@packhouse/runtime';
import { createAddressLimiter } from './access/address-limiter.js';
import { createAdmission } from './access/admission.js';
import { createKeyCache } from './access/key-cache.js';
import { createLocalSeconds } from './access/local-seconds.js';
import { createQuotas } from './access/quotas.js';
import { createRateLimiter } from './access/rate-limiter.js';
import { createUsageCounts } from './access/usage-counts.js';
import { createAnswerCache } from './cache/answer-cache.js';
import { createBodyCache } from './cache/body-cache.js';
import { createFileFinder } from './files/find-file.js';
import type { FilterStore } from './filters/filter-state.js';
import type { GatewayOptions } from './gateway-options.js';
import { createBodyMemory } from './http/body-memory.js';
import { createPacer, type Pacer } from './http/paced-pieces.js';
import { createPointerFinder, loadRanges } from './pointers/find-pointer.js';
import { createRangeCache } from './pointers/range-cache.js';
import { createSparingCoverage } from './pointers/sparing-coverage.js';
import { warmRanges } from './pointers/warm-ranges.js';
import type { GatewayParts } from './routes/gateway-parts.js';
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
  if (options.downloads === 'redirect' && objectStore.presign === undefined) {
    throw new PackhouseError({
      code: 'SETTINGS_INVALID',
      message: `DOWNLOADS=redirect needs an object store that has addresses of its own, as s3://bucket/prefix; OBJECT_STORE is ${objectStore.description}.`,
      hint: 'Set DOWNLOADS=stream.',
    });
  }
  const filters = options.filters ?? database.filters;
  const quotas = createQuotas(clock);
  const usage = createUsageCounts({
    ...{ context, usage: database.usage, learn: quotas.learn },
    keepDays: options.usageDays ?? 400,
  });
  const rateLimiter = createRateLimiter(options.seconds ?? createLocalSeconds(clock), quotas);
  const addressLimiter = createAddressLimiter(
    options.addressSeconds ?? createLocalSeconds(clock),
    options.openRate,
  );
  const ranges = createRangeCache({
    load: (network, kind, range) => loadRanges(database, network, kind, range),
    clock,
    ...(options.rangeCacheBytes === undefined ? {} : { maxBytes: options.rangeCacheBytes }),
  });
  const bodies = createBodyCache({ maxBytes: options.fileCacheBytes ?? 67_108_864 });
  const keys = createKeyCache({ find: database.keys.find, clock });
  const coverage = createSparingCoverage({ database, queue: options.queue, clock });
  const pacer = createPacer();
  const files = createFileFinder({
    ...{ context, database, objectStore, bodies, pacer },
    storeTimeoutMs: options.storeTimeoutMs,
    redirect: options.downloads === 'redirect',
  });
  const answers = createAnswerCache(options.answerCacheBytes ?? 67_108_864, options.sharedAnswers);
  const held = createAnswerMemory(options.answerMemoryBytes ?? 268_435_456);
  const requests = createBodyMemory(options.bodyMemoryBytes ?? 67_108_864);
  const memory = { ranges, files: bodies, answers, held, requests };
  context.metrics.gauge('packhouse_gateway_cache_bytes', 'Bytes that a cache holds.', ['cache'], (gauge) => {
    for (const [cache, { bytes }] of Object.entries(memory)) gauge.set({ cache }, bytes);
  });
  const { warmLimitMs = 0 } = options;
  const phase = {
    warming: warmLimitMs > 0 || options.othersReady !== undefined,
    leaving: false,
    draining: false,
  };
  const stop = new AbortController();
  const warm = async (limitMs: number): Promise<void> => {
    if (limitMs > 0) {
      await warmRanges({
        ...{ context, database, networks: options.networks, ranges, limitMs },
        signal: stop.signal,
      });
    }
    // Not awaited: the others wait until they hear that this one is warm.
    void (options.othersReady ?? Promise.resolve()).then(() => {
      phase.warming = false;
    });
  };
  const warmed = phase.warming ? warm(warmLimitMs) : Promise.resolve();
  return {
    filters,
    pacer,
    warmed,
    parts: {
      context,
      database,
      objectStore,
      admission: createAdmission({ keys, rateLimiter, addressLimiter, usage, clock }),
      quotas,
      usage,
      addressLimiter,
      pointers: createPointerFinder({ database, ranges, coverage }),
      files,
      coverage,
      phase,
      networksFileOk: options.networksFileOk ?? (() => true),
      answers,
      held,
      requests,
      bodyLimits: { keyed: options.bodyBytes ?? 1_048_576, open: options.openBodyBytes ?? 65_536 },
      batchCalls: options.batchCalls ?? 1_000,
      tips: options.tips ?? database.tips,
      spending: options.spending,
      reports: options.reports,
      callMetrics: createCallMetrics(context.metrics, () => filters.count()),
      publicMetrics: options.publicMetrics ?? false,
    },
    async close() {
      files.close();
      stop.abort();
      await warmed;
      ranges.close();
      await ranges.settled();
      await usage.close();
      await rateLimiter.close();
    },
  };
}
