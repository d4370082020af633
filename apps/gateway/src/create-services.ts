import type { Network } from '@packhouse/networks';
import { createNftWorker, type NftOptions, nftPolicy } from '@packhouse/nft';
import { createForwarder } from '@packhouse/node-rpc';
import { createKnownTexts } from './cache/known-texts.js';
import { createDeliveries } from './filters/deliveries.js';
import type { FilterStore } from './filters/filter-state.js';
import { createPendingWatch } from './filters/pending-watch.js';
import { createIntegrity } from './integrity/create-integrity.js';
import { createFalseAnswerReport } from './integrity/report-false-answers.js';
import { methodsOf } from './methods/methods-of.js';
import type { GatewayParts } from './routes/gateway-parts.js';
import type { RoutedServices } from './routes/table.js';
import { createSharedCalls } from './rpc/answer-call.js';

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
  const onFalseAnswer = createFalseAnswerReport({ network: network.id, context, database });
  const forwarder = createForwarder({ network, context, tips, spending, reports, onFalseAnswer });
  const integrity =
    network.family === 'evm' && network.rpc.integrity === 'full'
      ? createIntegrity({ policy: network.proofs, forwarder, rpc: network.rpc })
      : undefined;
  const pending = createPendingWatch({ network: network.id, context, database, filters, forwarder });
  const deliveries = createDeliveries({ filters, context });
  const nft = createNftWorker({ network, forwarder, context, database, ...nftPolicy(nftOptions) });
  const methods = methodsOf(network, {
    filters,
    pending,
    deliveries,
    elapsed: () => context.clock.elapsed(),
  });
  const without = Object.keys(network.rpc.costs).filter((name) => !methods.has(name));
  if (without.length > 0) {
    context.logger.warn(
      { network: network.id, methods: without },
      'rpc.costs names methods that this network does not offer',
    );
  }
  return {
    forwarder,
    integrity,
    methods,
    shared: createSharedCalls(),
    known: createKnownTexts(answers.get),
    nft,
    async close() {
      await Promise.all([pending.close(), deliveries.close(), nft?.close()]);
      await forwarder.close();
    },
  };
}
