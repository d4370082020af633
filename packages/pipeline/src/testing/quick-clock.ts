import { type Clock, systemClock } from '@packhouse/runtime';

/** A clock whose pauses end at once, after which it is as late as if they had lasted. */
export function createQuickClock(): Clock {
  let ahead = 0;
  const elapsed = (): number => systemClock.elapsed() + ahead;
  return {
    ...systemClock,
    elapsed,
    async sleep(ms, signal) {
      const until = elapsed() + ms;
      await systemClock.sleep(Math.min(ms, 1), signal);
      // Pauses that overlap pass together.
      ahead += Math.max(0, until - elapsed());
    },
  };
}
