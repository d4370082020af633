import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Network } from '@packhouse/networks';
import { forgetUpstreams } from '@packhouse/node-rpc';
import type { Context } from '@packhouse/runtime';
import { recordUsage } from './access/usage-counts.js';
import { createParts } from './create-parts.js';
import { createServices, type Services } from './create-services.js';
import type { FilterStore } from './filters/filter-state.js';
import type { GatewayOptions } from './gateway-options.js';
import { createClientAddress, createTrustedProxies, limitConnections } from './http/client-address.js';
import { createContentCodings } from './http/content-coding.js';
import type { Exchange } from './http/exchange.js';
import { createRequestLog } from './http/request-log.js';
import { createRouter } from './http/router.js';
import { close, createHttpServer, listen } from './http/server.js';
import { createToldAddress } from './http/told-address.js';
import { createGeneration, createNetworkServices, type Generation } from './networks/network-services.js';
import { publicUrls, type ServedNetwork, serveNetworks } from './networks/served-network.js';
import { createFallback } from './routes/fallback.js';
import { createRoutes } from './routes/table.js';

/** The HTTP interface of one process. */
export interface Gateway {
  readonly server: Server;
  /** Resolves when as much of the range index is loaded as the options say. */
  readonly warmed: Promise<void>;
  /** Resolves with the port once it listens; port 0 takes any free one. Throws PORT_IN_USE, SETTINGS_INVALID. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Replaces the networks. Requests in progress finish on the networks they began with. Unchanged networks keep their
   * upstreams and what is known of them. Throws if the networks cannot be served together; then nothing changes.
   */
  replaceNetworks(networks: readonly Network[]): Promise<void>;
  /**
   * Refuses new requests, waits for those in progress, and closes.
   *
   * Before that, only /readyz changes for `delayMs` (default 0), so that a load balancer notices and sends no more
   * requests. Aborting `cut` cuts off the requests still in progress.
   */
  close(how?: { delayMs?: number; cut?: AbortSignal }): Promise<void>;
}

/** How often expired filters are deleted, in milliseconds. */
const FILTER_SWEEP_MS = 60_000;

/** Creates a gateway that does not listen yet. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { context } = options;
  const { parts, filters, pacer, warmed, close: closeParts } = createParts(options);
  const services = createNetworkServices<Services>(
    (network) => createServices(network, parts, filters, options.nft),
    (network, others) =>
      forgetUpstreams(
        context.metrics,
        network,
        others.filter(({ id }) => id === network.id).flatMap(({ upstreams }) => upstreams),
      ),
  );
  const exchanges = {
    nextId: createRequestIds(),
    toAddress: createClientAddress(options.trustProxy),
    codings: createContentCodings(),
    pacer,
  };
  const log = createRequestLog(context, options.logRequests);
  const record = (exchange: Exchange): void => {
    recordUsage(parts.usage, exchange);
    parts.keyLog.note(exchange);
    log(exchange);
  };
  const told = createToldAddress(options.publicUrl);

  const tell = (networks: readonly ServedNetwork[]): void => {
    for (const each of networks) Object.assign(each, publicUrls(each.network, told.origin));
  };

  const build = (networks: readonly Network[]): Generation => {
    // The path of a network is the same with any public address.
    const served = serveNetworks(networks, options.publicUrl ?? 'http://localhost');
    if (told.origin !== '') tell(served);
    const taken: Network[] = [];
    const release = (): void => {
      for (const network of taken) services.release(network);
    };
    try {
      const routes = createRoutes(parts, served, told, (network) => {
        taken.push(network);
        return services.acquire(network);
      });
      const router = createRouter({
        routes,
        fallback: createFallback(parts, served),
        exchanges,
        logger: context.logger,
        tracing: context.tracing,
        record,
        beforeRefusal: parts.admission.setRateLimitHeaders,
        draining: () => parts.phase.draining,
        told,
        bodies: parts.bodyMemory,
      });
      return createGeneration(router, served, release);
    } catch (error) {
      release();
      throw error;
    }
  };

  let generation = build(options.networks);
  const http = createHttpServer(
    (request, response) => generation.answer(request, response),
    options.maxConnections ?? 10_000,
  );
  const { server } = http;
  limitAddresses(server, options);
  const stopSweeping = sweepFilters(filters, context);

  return {
    server,
    warmed,
    async listen(port, host) {
      const actual = await listen(server, port, host);
      told.listens(host, actual);
      tell(generation.networks);
      return actual;
    },
    async replaceNetworks(networks) {
      const before = generation;
      generation = build(networks);
      before.retire();
    },
    async close({ delayMs = 0, cut } = {}) {
      parts.phase.leaving = true;
      if (delayMs > 0) await context.clock.sleep(delayMs, cut).catch(() => undefined);
      parts.phase.draining = true;
      parts.feeds.drain();
      stopSweeping();
      await close(http, cut);
      generation.retire();
      await services.settled();
      await closeParts();
    },
  };
}

/** Closes connections beyond those that one address may have. */
function limitAddresses(
  server: Server,
  { context, connectionsPerAddress, trustProxy }: GatewayOptions,
): void {
  const refused = context.metrics.counter(
    'packhouse_gateway_connections_refused_total',
    'Connections closed because their address has too many.',
  );
  limitConnections(server, connectionsPerAddress ?? 1_000, createTrustedProxies(trustProxy), () => {
    refused.inc();
    context.logger.warn('one address has too many connections; the limit is CONNECTIONS_PER_ADDRESS');
  });
}

/** Deletes expired filters until the returned function is called. */
function sweepFilters(filters: FilterStore, { logger }: Pick<Context, 'logger'>): () => void {
  const timer = setInterval(() => {
    filters.sweep().catch((error: unknown) => {
      logger.warn({ err: error }, 'failed to delete expired filters; will retry');
    });
  }, FILTER_SWEEP_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Creates request ids that are unique in a log: a prefix for this process, and a counter. */
function createRequestIds(): () => string {
  const run = randomBytes(4).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${run}-${count}`;
  };
}
