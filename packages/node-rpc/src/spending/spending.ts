import type { Upstream } from '@packhouse/networks';
import {
  type CallSignal,
  type Clock,
  createFairTurns,
  type FairTurns,
  PackhouseError,
} from '@packhouse/runtime';
import type { Use } from './budget-rule.js';

/** Whose turns a request takes. */
export type Caller = Parameters<FairTurns['enter']>[0];

/** Whom a request is sent for. */
export interface Account {
  /** The owner of a backfill, or the application of a key. */
  readonly owner: string;
  /** Its id. */
  readonly backfill?: number | undefined;
  /** Default: urgent. */
  readonly use?: Use | undefined;
  /** If set, nothing is sent that it does not grant. */
  readonly allowance?: Allowance | undefined;
}

/** The account of requests for no backfill and no key, such as those for the head. */
export const NOBODY: Account = { owner: '-' };

/** The requests of one process to all its upstreams, within what they may be asked. */
export interface Spending {
  of(network: string, upstream: Pick<Upstream, 'name' | 'provider' | 'requestsPerSecond'>): UpstreamSpending;
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
    caller?: Caller,
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

/** Requests that were spaced here may arrive closer together: the window is this much longer than a second. */
const SLACK = 1.05;

/**
 * Makes a limit of `perSecond` calls per second (may be below 1), in any window of time.
 *
 * A sliding window rather than a token bucket: a bucket lets its burst and a second's refill through in the same
 * second, which a provider that counts by the second refuses.
 */
export function createRateWindow({ clock, perSecond }: { perSecond: number; clock: Clock }) {
  const windowMs = Math.max(1_000, 1_000 / perSecond) * SLACK;
  const largest = Math.max(1, Math.floor((perSecond * windowMs) / SLACK / 1_000));
  const begun: { at: number; calls: number }[] = [];
  let sum = 0;
  /** One waits for room at a time; who comes next is decided when it has it. */
  const turns = createFairTurns(1);

  const waitForRoom = async (calls: number, signal: CallSignal): Promise<void> => {
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const now = clock.elapsed();
      for (let first = begun[0]; first !== undefined && first.at <= now - windowMs; first = begun[0]) {
        sum -= first.calls;
        begun.shift();
      }
      if (sum === 0 || sum + calls <= largest) {
        begun.push({ at: now, calls });
        sum += calls;
        return;
      }
      await clock.sleep(Math.max(1, (begun[0]?.at ?? now) + windowMs - now), signal);
    }
  };

  return {
    /** Calls that may share one request. */
    largest,
    /**
     * Resolves when `calls` more may begin; rejects when aborted. Callers take turns, and the calls of one begin in the
     * order of asking.
     */
    take: async (calls: number, signal: CallSignal, caller: Caller = ''): Promise<void> => {
      const leave = await turns.enter(caller, signal);
      try {
        await waitForRoom(calls, signal);
      } finally {
        leave();
      }
    },
  };
}

/** What may still be sent for a backfill with a limit of requests, over all processes. */
interface Allowance {
  /** Takes as many of these calls as are left, at least one. Rejects with BUDGET_EXHAUSTED. */
  take(calls: number): Promise<number>;
  /** Returns calls that were taken and not sent. */
  giveBack(calls: number): Promise<void>;
}

/** Opens the allowance of a backfill. `take` returns how many calls were granted; negative calls are returned. */
export function createAllowance(
  backfill: number,
  take: (backfill: number, calls: number) => Promise<number>,
): Allowance {
  return {
    async take(calls) {
      const granted = await take(backfill, calls);
      if (granted > 0) return granted;
      throw new PackhouseError({
        code: 'BUDGET_EXHAUSTED',
        message: `Backfill ${backfill} has sent as many requests as it may.`,
        hint: 'Raise its limit with `packhouse backfill set --max-requests`.',
        data: { backfill },
      });
    },
    giveBack: async (calls) => {
      if (calls > 0) await take(backfill, -calls);
    },
  };
}
