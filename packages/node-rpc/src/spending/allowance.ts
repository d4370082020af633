import { PackhouseError } from '@packhouse/runtime';

/** What may still be sent for a backfill with a limit of requests, over all processes. */
export interface Allowance {
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
