import type { Network } from '@packhouse/networks';

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
