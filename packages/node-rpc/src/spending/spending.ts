import type { CallSignal, Clock, FairTurns, PackhouseError } from '@packhouse/runtime';
import type { Use } from './budget-rule.js';
import { createRateWindow } from './rate-window.js';

/** Whom a request is sent for. */
export interface Account {
  /** The owner of a wanted range, or the application of a key. */
  readonly owner: string;
  /** Id of the wanted range. */
  readonly range?: number | undefined;
  /** Default: urgent. */
  readonly use?: Use | undefined;
}

/** The account of what no order and no key asked for, such as the questions for the head. */
export const NOBODY: Account = { owner: '-' };

interface PaidUpstream {
  readonly name: string;
  readonly provider: string;
  readonly requestsPerSecond?: number;
}

/** The requests of one process to all its upstreams, within what they may be asked. */
export interface Spending {
  of(network: string, upstream: PaidUpstream): UpstreamSpending;
}

/** The requests to one upstream. */
export interface UpstreamSpending {
  /** Why nothing may be sent for this use now, and for how many milliseconds; null: something may, sooner or later. */
  refusal(use: Use): { error: PackhouseError; waitMs: number } | null;
  /**
   * How many of these calls may be sent now, at least one; a promise if that has to be waited for. Rejects with
   * BUDGET_EXHAUSTED, BUDGET_UNAVAILABLE or the signal's reason.
   */
  take(
    method: string,
    calls: number,
    use: Use,
    signal: CallSignal,
    caller?: Parameters<FairTurns['enter']>[0],
  ): number | Promise<number>;
  /** Counts calls that are sent now; a batch of ten counts ten. */
  sent(method: string, calls: number, account: Account): void;
  received(method: string, bytes: number, account: Account): void;
}

/** Counts nothing, and keeps `requestsPerSecond` within this process alone: for commands that ask nodes once. */
export function createOwnSpending(clock: Clock): Spending {
  return {
    of: (_, { requestsPerSecond }) => {
      const window =
        requestsPerSecond === undefined ? null : createRateWindow({ perSecond: requestsPerSecond, clock });
      return {
        refusal: () => null,
        take: (_method, calls, _use, signal, caller) => {
          if (window === null) return calls;
          const most = Math.min(calls, window.largest);
          return window.take(most, signal, caller).then(() => most);
        },
        sent: () => undefined,
        received: () => undefined,
      };
    },
  };
}
