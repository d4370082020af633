import type { Network } from '@packhouse/networks';
import type { NftWorker } from '@packhouse/nft';
import type { Forwarder } from '@packhouse/node-rpc';
import type { PendingWatch } from '../filters/pending-watch.js';
import type { RpcMethod, RpcSite } from '../rpc/method.js';

/** What a network is served with, and what it knows of its nodes by now. */
export interface Lane {
  readonly forwarder: Forwarder;
  readonly pending: PendingWatch;
  /** Refreshes tokens; absent where the family has none. */
  readonly nft?: NftWorker | undefined;
  readonly methods: ReadonlyMap<string, RpcMethod>;
  readonly shared: RpcSite['shared'];
  readonly known: RpcSite['known'];
}

/** The lanes that are in use. A network that stands unchanged in the next networks file keeps its own. */
export interface Lanes {
  /** The lane of a network exactly as it stands in the file; each call is a `release` later. */
  take(network: Network): Lane;
  /** Closes the lane where nobody else uses it. */
  release(network: Network): void;
  /** Resolves when all that were ever released are closed. */
  settled(): Promise<void>;
}

/** Makes an empty set. `onClosed` is told of a lane that ended, and of whether its network has another one. */
export function createLanes(
  make: (network: Network) => Lane,
  onClosed: (network: Network, others: readonly Network[]) => void,
): Lanes {
  const lanes = new Map<string, { network: Network; lane: Lane; users: number }>();
  const closing = new Set<Promise<void>>();
  return {
    take(network) {
      const name = JSON.stringify(network);
      const known = lanes.get(name);
      if (known !== undefined) {
        known.users += 1;
        return known.lane;
      }
      const lane = make(network);
      lanes.set(name, { network, lane, users: 1 });
      return lane;
    },
    release(network) {
      const name = JSON.stringify(network);
      const known = lanes.get(name);
      if (known === undefined) return;
      known.users -= 1;
      if (known.users > 0) return;
      lanes.delete(name);
      const { lane } = known;
      const closed = Promise.all([lane.pending.close(), lane.nft?.close()])
        .then(() => lane.forwarder.close())
        .then(() =>
          onClosed(
            network,
            [...lanes.values()].map((other) => other.network),
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
