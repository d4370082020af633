/**
 * Turns of ranges of one priority, by what they cost: start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996).
 * A range's next window starts, in virtual time, where its last one ended, or now if that is past; the range that
 * starts first has the next turn. So ranges that wait get equal shares, whenever they came and however large they are,
 * and a range that had nothing to fetch for a while has saved nothing up.
 */
export interface FairShares {
  /** Where the next window of a range starts; ranges with a lower one have their turn before it. */
  startOf(range: number): number;
  /** Counts a window of a range: `cost` in any unit that is the same for all, shared by `weight`. */
  charge(range: number, cost: number, weight?: number): void;
  /** Forgets the ranges that are not among these. */
  keep(ranges: Iterable<number>): void;
}

/** Creates shares of which nobody had any yet. */
export function createFairShares(): FairShares {
  let now = 0;
  const ends = new Map<number, number>();
  const startOf = (range: number): number => Math.max(now, ends.get(range) ?? now);
  return {
    startOf,
    charge(range, cost, weight = 1) {
      const start = startOf(range);
      now = start;
      ends.set(range, start + cost / weight);
    },
    keep(ranges) {
      const kept = new Set(ranges);
      for (const range of ends.keys()) if (!kept.has(range)) ends.delete(range);
    },
  };
}

/** What waits for a turn: the one with the lowest rank is taken first, and of equal ones the first given. */
interface Turns<T> {
  take(): T | undefined;
  /** Lets it wait for a further turn, by its rank now. */
  again(waiting: T): void;
}

/** Lets all of these wait for their first turn. */
export function createTurns<T>(all: readonly T[], rankOf: (each: T) => number): Turns<T> {
  const orders = new Map(all.map((each, order) => [each, order]));
  /** The next one is at the end, from where it is taken without moving the others. */
  const waiting = all.map((each) => ({ each, rank: rankOf(each) })).reverse();
  const compare = (a: (typeof waiting)[number], b: (typeof waiting)[number]): number =>
    b.rank - a.rank || (orders.get(b.each) as number) - (orders.get(a.each) as number);
  waiting.sort(compare);
  return {
    take: () => waiting.pop()?.each,
    again(each) {
      const own = { each, rank: rankOf(each) };
      let [low, high] = [0, waiting.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (compare(own, waiting[middle] as (typeof waiting)[number]) > 0) low = middle + 1;
        else high = middle;
      }
      waiting.splice(low, 0, own);
    },
  };
}
