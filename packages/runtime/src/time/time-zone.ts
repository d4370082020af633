import { DAY_MS } from './clock.js';
/** The clock on the wall of one time zone. Local times are milliseconds since 1970-01-01T00:00 on that wall. */
export interface Zone {
  /** The local time at an instant. */
  localAt(instant: number): number;
  /**
   * The instants at which the clock shows a local time: two if it is set back over it, and if it skips it, the instant
   * of the skip, with `skipped`.
   */
  getInstants(local: number): { first: number; last: number; skipped: boolean };
}

/** Opens a zone of the IANA database, such as `Europe/Berlin` or `UTC`; null: there is none of this name. */
export function openZone(name: string): Zone | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
  const offsetAt = (instant: number): number => {
    // Such as `12/31/2011, 00:00:00`.
    const [month, day, year, hour, minute, second] = (format.format(instant).match(/\d+/g) ?? []).map(
      Number,
    ) as [number, ...number[]];
    const local = Date.UTC(year as number, month - 1, day, hour, minute, second);
    return local - (instant - (instant % 1_000));
  };
  return {
    localAt: (instant) => instant + offsetAt(instant),
    getInstants(local) {
      // No clock is changed twice within two days, or is further from UTC than one day.
      const [before, after] = [offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)];
      const shown = [before, after]
        .map((offset) => local - offset)
        .filter((at) => at + offsetAt(at) === local);
      if (shown.length > 0) return { first: Math.min(...shown), last: Math.max(...shown), skipped: false };
      let [low, high] = [local - DAY_MS, local + DAY_MS];
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (offsetAt(middle) === before) low = middle;
        else high = middle;
      }
      return { first: high, last: high, skipped: true };
    },
  };
}
