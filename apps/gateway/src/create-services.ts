import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createNftWorker, type NftOptions, nftPolicy } from '@packhouse/nft';
import { createForwarder, type InvalidResponse } from '@packhouse/node-rpc';
import { type AlarmName, createFindingReport } from '@packhouse/pipeline';
import { type Context, createOnceAWhile, type ErrorCode, getOrAdd } from '@packhouse/runtime';
import { createRequestCache } from './cache/request-cache.js';
import { createDeliveries } from './filters/deliveries.js';
import type { FilterStore } from './filters/filter-state.js';
import { createPendingWatch } from './filters/pending-watch.js';
import { createIntegrity } from './integrity/create-integrity.js';
import { createEmptyLists } from './integrity/empty-lists.js';
import { createHeaderHints } from './integrity/header-hints.js';
import { createNewestLogs } from './integrity/newest-logs.js';
import { createMethods } from './methods/create-methods.js';
import type { GatewayParts } from './routes/common/gateway-parts.js';
import type { RoutedServices } from './routes/table.js';
import { createSharedCalls } from './rpc/answer-call.js';
import { toAnswerPrefix } from './rpc/method.js';

/** The services of one network, with what they know of its upstreams. */
export interface Services extends RoutedServices {
  close(): Promise<void>;
}

export function createServices(
  network: Network,
  { context, database, answers, tips, spending, reports }: GatewayParts,
  filters: FilterStore,
  nftOptions: NftOptions | undefined,
): Services {
  const onInvalidResponse = createInvalidResponseReport({ network: network.id, context, database });
  const onFinding = createFindingReport({ network: network.id, context, database });
  const forwarder = createForwarder({
    network,
    context,
    tips,
    spending,
    reports,
    onInvalidResponse,
    onFinding,
  });
  const integrity =
    network.family === 'evm' && network.rpc.integrity === 'full'
      ? createIntegrity({ policy: network.proofs, forwarder, rpc: network.rpc })
      : undefined;
  const getHints = createHeaderHints(context.clock);
  const isEvm = network.family === 'evm';
  const newestLogs = isEvm ? createNewestLogs(network.proofs, getHints) : undefined;
  const emptyLists = isEvm ? createEmptyLists(getHints, forwarder) : undefined;
  const pending = createPendingWatch({ network: network.id, context, database, filters, forwarder });
  const deliveries = createDeliveries({ filters, context });
  const nft = createNftWorker({ network, forwarder, context, database, ...nftPolicy(nftOptions) });
  const methods = createMethods(network, {
    filters,
    pending,
    deliveries,
    elapsed: () => context.clock.elapsed(),
  });
  const without = Object.keys(network.rpc.costs).filter((name) => !methods.has(name));
  if (without.length > 0) {
    context.logger.warn(
      { network: network.id, methods: without },
      'rpc.costs has methods that this network does not support',
    );
  }
  return {
    forwarder,
    integrity,
    newestLogs,
    emptyLists,
    methods,
    shared: createSharedCalls(),
    requestCache: createRequestCache((name) => {
      const isCurrent = name.startsWith(`${toAnswerPrefix({ config: network, forwarder, integrity })} `);
      return isCurrent ? answers.get(name) : undefined;
    }),
    nft,
    async close() {
      await Promise.all([pending.close(), deliveries.close(), nft?.close()]);
      await forwarder.close();
    },
  };
}

const ALARM: AlarmName & ErrorCode = 'NODE_ANSWER_FALSE';
/** The same sentence is logged, and the alarm written, once in this time. */
const EVERY_MS = 60_000;

/** Logs false answers of nodes and raises the alarm about them, at most once a minute for each node and method. */
function createInvalidResponseReport(options: {
  network: string;
  context: Pick<Context, 'clock' | 'logger'>;
  database: Pick<Database, 'network'>;
}): (answer: InvalidResponse) => void {
  const { context, database, network } = options;
  const nodes = new Map<string, ReturnType<typeof createOnceAWhile>>();
  return ({ upstream, method, reason }) => {
    const onceAWhile = getOrAdd(nodes, upstream, () =>
      createOnceAWhile(EVERY_MS, () => context.clock.elapsed()),
    );
    const { say, hidden } = onceAWhile(method);
    if (!say) return;
    const facts = { network, upstream, method, reason, ...(hidden > 0 ? { hidden } : {}) };
    context.logger.warn({ ...facts, code: ALARM }, 'node sent a false answer: another node is asked');
    const names = [...nodes.keys()];
    const message = `Upstream ${names.join(', ')} sent answers that their blocks contradict, the last one to ${method}: ${reason.replace(/\.?$/, '.')} They were not passed on; resynchronise or replace the node.`;
    database
      .network(network)
      .alarms.raise({ name: ALARM, message, data: { upstreams: names, method, reason } })
      .catch((error: unknown) => context.logger.warn({ ...facts, err: error }, 'failed to raise the alarm'));
  };
}
