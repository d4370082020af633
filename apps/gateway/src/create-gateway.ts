import type { AddressInfo } from 'node:net';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createNftWorker, type NftOptions, nftPolicy } from '@packhouse/nft';
import { createForwarder } from '@packhouse/node-rpc';
import type { ObjectStore } from '@packhouse/object-store';
import type { QueueReader } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import type { FastifyInstance } from 'fastify';
import { createAdmission } from './auth/admission.js';
import { createKeyCache } from './auth/key-cache.js';
import { createSparingCoverage } from './coverage/sparing-coverage.js';
import { createBodyCache } from './files/body-cache.js';
import { createFileFinder } from './files/find-file.js';
import { watchSuperseded } from './files/watch-superseded.js';
import type { FilterStore } from './filters/filter-store.js';
import { createPendingWatch } from './filters/pending-watch.js';
import { createLocalRateLimiter } from './limits/create-local-rate-limiter.js';
import { createOpenDoor } from './limits/open-door.js';
import type { RateLimiter } from './limits/rate-limiter.js';
import { createPointerFinder } from './pointers/find-pointer.js';
import { createRangeCache } from './ranges/range-cache.js';
import { bundlePointerRoute } from './routes/bundle-pointer.js';
import { coverageRoute } from './routes/coverage.js';
import { downloadRoute } from './routes/download.js';
import type { GatewayParts } from './routes/gateway-parts.js';
import { healthzRoute } from './routes/healthz.js';
import { indexPageRoute } from './routes/index-page.js';
import { jsonRpcRoute } from './routes/json-rpc.js';
import { manifestRoute } from './routes/manifest.js';
import { manifestKeysRoute } from './routes/manifest-keys.js';
import { metricsRoute } from './routes/metrics.js';
import { nftRefreshRoute } from './routes/nft-refresh.js';
import { nftStatusRoute } from './routes/nft-status.js';
import { describeRoutes, openapiRoute } from './routes/openapi.js';
import { readyzRoute } from './routes/readyz.js';
import { createAnswerCache } from './rpc/answer-cache.js';
import { createAnswerMemory } from './rpc/answer-memory.js';
import { createKnownTexts } from './rpc/known-texts.js';
import type { RpcSite } from './rpc/method.js';
import { methodsOf } from './rpc/methods-of.js';
import { createSharedCalls } from './rpc/share-calls.js';
import type { SharedAnswers } from './rpc/shared-answers.js';
import { createCallMetrics } from './server/call-metrics.js';
import { createServer } from './server/create-server.js';
import { createExpressLane } from './server/express-lane.js';
import { guardRequests } from './server/guard-requests.js';
import { listenFailure } from './server/listen-failure.js';
import { createVisitRecorder, type LoggedRequests } from './server/record-visit.js';
import { createRequestIds } from './server/request-ids.js';
import { createRpcLane } from './server/rpc-lane.js';
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
  readonly server: FastifyInstance;
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

/** How often connections that became idle are closed while draining, in milliseconds. */
const SWEEP_MS = 50;

/** Makes a gateway that does not listen yet. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { context, database, objectStore } = options;
  const filters = options.filters ?? database.filters;
  const rateLimiter =
    options.rateLimiter ??
    createLocalRateLimiter(context.clock, { keys: database.keys, logger: context.logger });
  const ranges = createRangeCache({
    load: database.bundles.ranges,
    clock: context.clock,
    ...(options.rangeCacheBytes === undefined ? {} : { maxBytes: options.rangeCacheBytes }),
  });
  const bodies = createBodyCache({ maxBytes: options.fileCacheBytes ?? 67_108_864 });
  const keys = createKeyCache({ find: database.keys.find, clock: context.clock });
  let leaving = false;
  const coverage = createSparingCoverage({ database, queue: options.queue, clock: context.clock });
  const files = createFileFinder({ database, objectStore, bodies });
  const superseded = watchSuperseded({
    count: () => database.bundles.supersededCount(),
    onChange: () => files.forget(),
  });
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

  const nextRequestId = createRequestIds();
  const record = createVisitRecorder(context, options.logRequests);
  const callMetrics = createCallMetrics(context.metrics, () => filters.count());
  const tracing = context.tracing !== undefined;
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

  /** The routes of these networks, behind the server that the first of them listens with. */
  const build = async (networks: readonly Network[], isFirst: boolean): Promise<Lineup> => {
    const sites = createSites(networks, options.publicUrl ?? 'http://localhost');
    if (publicUrl !== undefined) {
      for (const site of sites) Object.assign(site, siteUrls(site.network, publicUrl));
    }
    const parts: GatewayParts = { ...shared, sites };
    const express = createExpressLane({
      ...{ sites, keys, ranges, rateLimiter, clock: context.clock },
      ...{ record, nextRequestId, tracing, draining: () => draining },
    });
    const { app, router } = createServer({
      ...{ context, nextRequestId, sites },
      // What follows the first one never listens: the first one's server hands it the requests.
      answer: isFirst ? (request, response) => lineup.answer(request, response) : undefined,
      maxConnections: options.maxConnections ?? 10_000,
      trustProxy: options.trustProxy,
    });
    const taken: Network[] = [];
    const rpcSites: RpcSite[] = [];
    const letGo = (): void => {
      for (const network of taken) lanes.release(network);
    };
    try {
      guardRequests(app, parts, record);
      await describeRoutes(app);
      openapiRoute(app, parts);
      indexPageRoute(app, parts);
      healthzRoute(app);
      readyzRoute(app, parts);
      metricsRoute(app, parts);
      manifestKeysRoute(app, parts);
      for (const site of sites) {
        bundlePointerRoute(app, parts, site);
        manifestRoute(app, parts, site);
        coverageRoute(app, parts, site);
        downloadRoute(app, parts, site);
        const { forwarder, methods, shared: calls, known, nft } = lanes.take(site.network);
        taken.push(site.network);
        const metrics = callMetrics(site.network.id);
        const at = { site, forwarder, methods, shared: calls, known, cache, memory, metrics };
        rpcSites.push(at);
        nftRefreshRoute(app, parts, site, () => nft?.wake());
        nftStatusRoute(app, parts, site);
        jsonRpcRoute(app, parts, at);
      }
      await app.ready();
    } catch (error) {
      letGo();
      throw error;
    }
    const rpcLane = createRpcLane({
      parts,
      keys,
      clock: context.clock,
      sites: rpcSites,
      record,
      nextRequestId,
      tracing,
    });
    return createLineup({ ...{ app, router, express, rpcLane, sites }, letGo });
  };
  let lineup = await build(options.networks, true);
  const { app } = lineup;
  const sweeping = setInterval(() => {
    filters.sweep().catch((error: unknown) => {
      context.logger.warn({ err: error }, 'expired filters could not be deleted; it is tried again');
    });
  }, FILTER_SWEEP_MS);
  sweeping.unref();

  return {
    server: app,
    async listen(port, host) {
      try {
        await app.listen({ port, host });
      } catch (error) {
        throw listenFailure(error, port, host);
      }
      const actual = (app.server.address() as AddressInfo).port;
      const address = options.publicUrl ?? `http://${reachable(host)}:${actual}`;
      publicUrl = address;
      for (const site of lineup.sites) Object.assign(site, siteUrls(site.network, address));
      return actual;
    },
    async replaceNetworks(networks) {
      const before = lineup;
      lineup = await build(networks, false);
      before.retire();
    },
    async close({ delayMs = 0, cut } = {}) {
      leaving = true;
      if (delayMs > 0) await context.clock.sleep(delayMs, cut).catch(() => undefined);
      draining = true;
      clearInterval(sweeping);
      const cutOff = (): void => app.server.closeAllConnections();
      cut?.addEventListener('abort', cutOff, { once: true });
      if (cut?.aborted === true) cutOff();
      // A connection that was in use when the server closed would otherwise stay until its keep-alive time is over.
      const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
      await app.close();
      clearInterval(sweep);
      superseded.close();
      cut?.removeEventListener('abort', cutOff);
      ranges.close();
      await ranges.settled();
      lineup.retire();
      await lanes.settled();
      await rateLimiter.close();
    },
  };
}

/** How a browser on this machine writes the address that a server listens on. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
