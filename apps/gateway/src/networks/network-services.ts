import type { RequestListener } from 'node:http';
import type { Network } from '@packhouse/networks';
import type { Router } from '../http/router.js';
import type { ServedNetwork } from './served-network.js';

/** The services of networks, shared by all generations in which a network is unchanged. */
interface NetworkServices<Services> {
  /** The services of a network exactly as it is in the file; each call needs one `release` later. */
  acquire(network: Network): Services;
  /** Closes the services after their last use. */
  release(network: Network): void;
  /** Resolves when all released services are closed. */
  settled(): Promise<void>;
}

/** Creates an empty set. `onClosed` gets a network whose services were closed, and all networks still in use. */
export function createNetworkServices<Services extends { close(): Promise<void> }>(
  make: (network: Network) => Services,
  onClosed: (network: Network, others: readonly Network[]) => void,
): NetworkServices<Services> {
  const inUse = new Map<string, { network: Network; services: Services; users: number }>();
  const closing = new Set<Promise<void>>();
  return {
    acquire(network) {
      const name = JSON.stringify(network);
      const known = inUse.get(name) ?? { network, services: make(network), users: 0 };
      inUse.set(name, known);
      known.users += 1;
      return known.services;
    },
    release(network) {
      const name = JSON.stringify(network);
      const known = inUse.get(name);
      if (known === undefined) return;
      known.users -= 1;
      if (known.users > 0) return;
      inUse.delete(name);
      const closed = known.services
        .close()
        .then(() =>
          onClosed(
            network,
            [...inUse.values()].map((other) => other.network),
          ),
        )
        .finally(() => closing.delete(closed));
      closing.add(closed);
    },
    async settled() {
      await Promise.all(closing);
    },
  };
}

/**
 * The networks of one version of the networks file, with their routes. A changed file makes the next generation behind
 * the same server. Requests in progress finish on the generation that received them.
 */
export interface Generation {
  readonly networks: readonly ServedNetwork[];
  /** Answers a request of the server. */
  readonly answer: RequestListener;
  /** Call it when no more requests will come. `release` is called once all requests are answered. */
  retire(): void;
}

/** Creates a generation; `release` is called once, after `retire`. */
export function createGeneration(
  router: Router,
  networks: readonly ServedNetwork[],
  release: () => void,
): Generation {
  let underWay = 0;
  let retired = false;
  const left = (): void => {
    underWay -= 1;
    if (retired && underWay === 0) release();
  };
  return {
    networks,
    answer(request, response) {
      underWay += 1;
      router(request, response, left);
    },
    retire() {
      if (retired) return;
      retired = true;
      if (underWay === 0) release();
    },
  };
}
