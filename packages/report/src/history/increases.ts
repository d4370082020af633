import type { Clock } from '@packhouse/runtime';

/** What only rises, until it begins anew. Of one name there may be several parts: days, or processes. */
interface Counter {
  name: string;
  part: string;
  counts: readonly number[];
}

/** The rates of one name, per second; null: unknown, because a counter went back. */
export type Rates = readonly number[] | null;

/** Two samples that are further apart tell nothing of the minute between them. */
const MAX_SPAN_MS = 150_000;
/** How long a counter that is not told is remembered: a process that reports late is not counted anew. */
const KEEP_MS = 3_600_000;

/**
 * Turns counters into rates since the call before. Returns null at the first call, and if the one before is over 150 s
 * ago: what happened meanwhile belongs to no minute. A counter that was not there began at zero; one that went back began
 * anew, and its name has no rate.
 */
export function createIncreases({ elapsed }: Pick<Clock, 'elapsed'>) {
  const before = new Map<string, { counts: readonly number[]; seenMs: number }>();
  let lastMs: number | undefined;
  return (counters: readonly Counter[]): ReadonlyMap<string, Rates> | null => {
    const nowMs = elapsed();
    const spanMs = lastMs === undefined ? Number.POSITIVE_INFINITY : nowMs - lastMs;
    lastMs = nowMs;
    const rates = new Map<string, Rates>();
    for (const { name, part, counts } of counters) {
      const key = JSON.stringify([name, part]);
      const old = before.get(key)?.counts;
      before.set(key, { counts, seenMs: nowMs });
      const sum = rates.get(name);
      if (sum === null) continue;
      if (old !== undefined && counts.some((count, at) => count < (old[at] ?? 0))) {
        rates.set(name, null);
        continue;
      }
      const seconds = Math.max(1, spanMs) / 1_000;
      const own = counts.map((count, at) => (count - (old?.[at] ?? 0)) / seconds + (sum?.[at] ?? 0));
      rates.set(name, own);
    }
    for (const [key, { seenMs }] of before) if (nowMs - seenMs > KEEP_MS) before.delete(key);
    return spanMs > MAX_SPAN_MS ? null : rates;
  };
}
