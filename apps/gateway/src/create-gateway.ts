import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createNftWorker, type NftOptions, nftPolicy } from '@packhouse/nft';
import { createForwarder } from '@packhouse/node-rpc';
import type { ObjectStore } from '@packhouse/object-store';
import type { QueueReader } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { createAdmission } from './auth/admission.js';
import { createKeyCache } from './auth/key-cache.js';
import { createAnswerCache, type SharedAnswers } from './cache/answer-cache.js';
import { createBodyCache } from './cache/body-cache.js';
import { createKnownTexts } from './cache/known-texts.js';
import { createFileFinder } from './files/find-file.js';
import type { FilterStore } from './filters/filter-state.js';
import { createPendingWatch } from './filters/pending-watch.js';
import { createClientAddress } from './http/client-address.js';
import { createRequestLog, type LoggedRequests } from './http/request-log.js';
import { createRouter, type Route } from './http/router.js';
import { close, createHttpServer, listen, reachableHost } from './http/server.js';
import { createLocalRateLimiter } from './limits/create-local-rate-limiter.js';
import { createOpenDoor } from './limits/open-door.js';
import type { RateLimiter } from './limits/rate-limiter.js';
import { methodsOf } from './methods/methods-of.js';
import { createPointerFinder } from './pointers/find-pointer.js';
import { createRangeCache } from './pointers/range-cache.js';
import { createSparingCoverage } from './pointers/sparing-coverage.js';
import { bundlePointerRoute } from './routes/bundle-pointer.js';
import { coverageRoute } from './routes/coverage.js';
import { downloadRoute } from './routes/download.js';
import type { GatewayParts } from './routes/gateway-parts.js';
import { healthzRoute } from './routes/healthz.js';
import { indexPageRoute } from './routes/index-page.js';
import { jsonRpcRoutes } from './routes/json-rpc.js';
import { manifestRoute } from './routes/manifest.js';
import { manifestKeysRoute } from './routes/manifest-keys.js';
import { metricsRoute } from './routes/metrics.js';
import { nftRefreshRoute } from './routes/nft-refresh.js';
import { nftStatusRoute } from './routes/nft-status.js';
import { openapiRoute } from './routes/openapi.js';
import { readyzRoute } from './routes/readyz.js';
import { createUnrouted } from './routes/unrouted.js';
import { createSharedCalls } from './rpc/answer-call.js';
import { createAnswerMemory } from './rpc/answer-memory.js';
import { createCallMetrics } from './rpc/call-metrics.js';
import { forgetUpstreams } from './sites/forget-upstreams.js';
import { createLanes } from './sites/lanes.js';
import { createLineup, type Lineup } from './sites/lineup.js';
import { createSites, siteUrls } from './sites/site.js';

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

/** The HTTP interface of one process. */
export interface Gateway {
  readonly server: Server;
  /** Resolves with the port as soon as connections are taken; port 0 takes any. Throws PORT_IN_USE, SETTINGS_INVALID. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Serves these networks from now on. Requests under way end as they began; networks that are unchanged keep their
   * nodes and what is known of them. Throws where they cannot be served together: then all stays as it is.
   */
  replaceNetworks(networks: readonly Network[]): Promise<void>;
  /**
   * Refuses new requests, lets those under way end, and closes.
   *
   * For `delayMs` (default 0) before that, all is answered as ever but /readyz, so that a load balancer notices and
   * sends no more. What is still under way when `cut` is aborted is cut off.
   */
  close(how?: { delayMs?: number; cut?: AbortSignal }): Promise<void>;
}

/** How often filters that nobody polls any more are deleted, in milliseconds. */
const FILTER_SWEEP_MS = 60_000;

/** Makes a gateway that does not listen yet. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { context, database, objectStore } = options;
  const filters = options.filters ?? database.filters;
  const rateLimiter =
    options.rateLimiter ??
    createLocalRateLimiter(context.clock, { keys: database.keys, logger: context.logger });
  const ranges = createRangeCache({
    load: (network, kind, range) => database.network(network).bundles.ranges(kind, range),
    clock: context.clock,
    ...(options.rangeCacheBytes === undefined ? {} : { maxBytes: options.rangeCacheBytes }),
  });
  const bodies = createBodyCache({ maxBytes: options.fileCacheBytes ?? 67_108_864 });
  const keys = createKeyCache({ find: database.keys.find, clock: context.clock });
  let leaving = false;
  const coverage = createSparingCoverage({ database, queue: options.queue, clock: context.clock });
  const files = createFileFinder({ database, objectStore, bodies });
  let draining = false;
  const shared: Omit<GatewayParts, 'sites'> = {
    context,
    database,
    objectStore,
    admission: createAdmission({ keys, rateLimiter, clock: context.clock }),
    openDoor: createOpenDoor(options.openRate),
    pointers: createPointerFinder({ database, ranges, coverage }),
    coverage,
    files,
    draining: () => draining,
    leaving: () => leaving,
    networksFileOk: options.networksFileOk ?? (() => true),
    caches: () => ({ ranges, files: bodies, answers: cache, held: memory }),
  };

  const exchanges = { nextId: createRequestIds(), addressOf: createClientAddress(options.trustProxy) };
  const record = createRequestLog(context, options.logRequests);
  const callMetrics = createCallMetrics(context.metrics, () => filters.count());
  const cache = createAnswerCache(options.answerCacheBytes ?? 67_108_864, options.sharedAnswers);
  const memory = createAnswerMemory(options.answerMemoryBytes ?? 268_435_456);
  const refreshing = nftPolicy(options.nft);
  const lanes = createLanes(
    (network) => {
      const forwarder = createForwarder({ network, context });
      const pending = createPendingWatch({ network: network.id, context, database, filters, forwarder });
      const methodParts = { filters, pending, now: () => context.clock.now() };
      const nft = createNftWorker({ network, forwarder, context, database, ...refreshing });
      return {
        forwarder,
        pending,
        nft,
        methods: methodsOf(network, methodParts),
        shared: createSharedCalls(),
        known: createKnownTexts(cache.get),
      };
    },
    (network, others) => forgetUpstreams(context, network, others),
  );
  let publicUrl = options.publicUrl;

  /** The routes of these networks. */
  const build = (networks: readonly Network[]): Lineup => {
    const sites = createSites(networks, options.publicUrl ?? 'http://localhost');
    if (publicUrl !== undefined) {
      for (const site of sites) Object.assign(site, siteUrls(site.network, publicUrl));
    }
    const parts: GatewayParts = { ...shared, sites };
    const taken: Network[] = [];
    const letGo = (): void => {
      for (const network of taken) lanes.release(network);
    };
    try {
      const routes: Route[] = [
        indexPageRoute(parts),
        healthzRoute,
        readyzRoute(parts),
        metricsRoute(parts),
        manifestKeysRoute(parts),
      ];
      for (const site of sites) {
        const { forwarder, methods, shared: calls, known, nft } = lanes.take(site.network);
        taken.push(site.network);
        const metrics = callMetrics(site.network.id);
        const at = { site, forwarder, methods, shared: calls, known, cache, memory, metrics };
        routes.push(
          bundlePointerRoute(parts, site),
          manifestRoute(parts, site),
          coverageRoute(parts, site),
          downloadRoute(parts, site),
          nftRefreshRoute(parts, site, () => nft?.wake()),
          nftStatusRoute(parts, site),
          ...jsonRpcRoutes(parts, at),
        );
      }
      const router = createRouter({
        routes: [openapiRoute(routes, sites), ...routes],
        unrouted: createUnrouted(parts),
        exchanges,
        logger: context.logger,
        tracing: context.tracing,
        record,
        beforeRefusal: shared.admission.sayLeft,
        draining: shared.draining,
      });
      return createLineup(router, sites, letGo);
    } catch (error) {
      letGo();
      throw error;
    }
  };
  let lineup = build(options.networks);
  const server = createHttpServer(
    (request, response) => lineup.answer(request, response),
    options.maxConnections ?? 10_000,
  );
  const sweeping = setInterval(() => {
    filters.sweep().catch((error: unknown) => {
      context.logger.warn({ err: error }, 'expired filters could not be deleted; it is tried again');
    });
  }, FILTER_SWEEP_MS);
  sweeping.unref();

  return {
    server,
    async listen(port, host) {
      const actual = await listen(server, port, host);
      const address = options.publicUrl ?? `http://${reachableHost(host)}:${actual}`;
      publicUrl = address;
      for (const site of lineup.sites) Object.assign(site, siteUrls(site.network, address));
      return actual;
    },
    async replaceNetworks(networks) {
      const before = lineup;
      lineup = build(networks);
      before.retire();
    },
    async close({ delayMs = 0, cut } = {}) {
      leaving = true;
      if (delayMs > 0) await context.clock.sleep(delayMs, cut).catch(() => undefined);
      draining = true;
      clearInterval(sweeping);
      await close(server, cut);
      files.close();
      ranges.close();
      await ranges.settled();
      lineup.retire();
      await lanes.settled();
      await rateLimiter.close();
    },
  };
}

/** Makes ids that are unique in a log: of this process, and counted. */
function createRequestIds(): () => string {
  const run = randomBytes(4).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${run}-${count}`;
  };
}
