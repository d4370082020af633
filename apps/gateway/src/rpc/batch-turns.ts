import type { Network } from '@packhouse/networks';
import type { CallSignal } from '@packhouse/runtime';

/** Limits the calls of all batches of one network together, so that single calls find a connection to a node. */
export interface BatchTurns {
  /**
   * Resolves when one more call may run, first come, first served; call the returned function when it is over. A batch
   * waits with a few calls at a time, so each gets its share. Rejects with the reason of `signal` when that is aborted.
   */
  enter(signal: CallSignal): Promise<() => void>;
}

/** What batches may use of the requests that the nodes asked first take at a time. */
const SHARE = 0.75;

/** Creates the turns of a network. */
export function createBatchTurns({ upstreams }: Pick<Network, 'upstreams'>): BatchTurns {
  const first = Math.min(...upstreams.map(({ priority }) => priority));
  const inFlight = upstreams.reduce(
    (sum, { priority, maxInFlight }) => sum + (priority === first ? maxInFlight : 0),
    0,
  );
  let free = Math.max(1, Math.floor(inFlight * SHARE));
  const waiting = new Set<() => void>();

  const leave = (): void => {
    free += 1;
    const [next] = waiting;
    next?.();
  };
  const take = (): (() => void) => {
    free -= 1;
    return leave;
  };

  return {
    async enter(signal) {
      if (signal.aborted) throw signal.reason;
      if (free > 0) return take();
      return new Promise((resolve, reject) => {
        const end = (): void => {
          waiting.delete(mine);
          signal.removeEventListener('abort', gone);
        };
        const gone = (): void => {
          end();
          reject(signal.reason as Error);
        };
        const mine = (): void => {
          end();
          resolve(take());
        };
        waiting.add(mine);
        signal.addEventListener('abort', gone, { once: true });
      });
    },
  };
}
