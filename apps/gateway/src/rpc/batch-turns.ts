import type { Network } from '@packhouse/networks';
import { createFairTurns, type FairTurns } from '@packhouse/runtime';

/** What batches may use of the requests that the nodes asked first take at a time. */
const SHARE = 0.75;

/**
 * Limits the calls of all batches of one network together, so that single calls find a connection to a node. Callers take
 * turns; a batch waits with a few calls at a time.
 */
export function createBatchTurns({ upstreams }: Pick<Network, 'upstreams'>): FairTurns {
  const first = Math.min(...upstreams.map(({ priority }) => priority));
  const inFlight = upstreams.reduce(
    (sum, { priority, maxInFlight }) => sum + (priority === first ? maxInFlight : 0),
    0,
  );
  return createFairTurns(Math.max(1, Math.floor(inFlight * SHARE)));
}
