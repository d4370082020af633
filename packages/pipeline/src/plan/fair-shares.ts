import { getOrAdd } from '@packhouse/runtime';

/** A range that takes turns. */
interface Sharer {
  id: number;
  owner: string;
  /** Only those of one priority take turns with each other. */
  priority: number;
  /** Of two with equal costs, one of twice the weight has twice the turns. */
  weight: number;
}

/**
 * Turns by what they cost: between the owners of a priority, and for each owner between its ranges. Start-time fair
 * queueing (Goyal, Vin and Cheng, SIGCOMM 1996), twice: the next window starts, in virtual time, where the last one
 * ended, or now if that is past; who starts first has the next turn. So those that wait get equal shares, whenever they
 * came and however large they are, and one that had nothing to fetch for a while has saved nothing up.
 *
 * A window takes its cost divided by the weight of its range, for the range and for its owner: more ranges give an
 * owner no larger share, heavier ones do.
 */
export interface FairShares {
  /** The turns of these ranges, all of one priority, from what they had so far. */
  turns<R extends Sharer>(ranges: readonly R[]): Turns<R>;
  /** Counts a window of a range: `cost` in any unit that is the same for all. */
  charge(range: Sharer, cost: number): void;
  /** Forgets the ranges that are not among these. */
  keep(ranges: Iterable<Sharer>): void;
}

/** Creates shares of which nobody had any yet. */
export function createFairShares(): FairShares {
  /** Owners by priority, and ranges by priority and owner. */
  const levels = new Map<string, Level>();
  const getOwners = ({ priority }: Sharer): string => String(priority);
  const toRanges = ({ priority, owner }: Sharer): string => `${priority} ${owner}`;
  const level = (name: string): Level => getOrAdd(levels, name, () => ({ now: 0, ends: new Map() }));
  return {
    turns<R extends Sharer>(ranges: readonly R[]): Turns<R> {
      const groups = new Map<string, R[]>();
      for (const range of ranges) getOrAdd(groups, range.owner, () => []).push(range);
      const within = new Map(
        [...groups].map(([owner, own]) => [
          owner,
          createTurns(own, (range) => getStart(level(toRanges(range)), range.id)),
        ]),
      );
      const priority = ranges[0] === undefined ? '' : getOwners(ranges[0]);
      const owners = createTurns([...groups.keys()], (owner) => getStart(level(priority), owner));
      let served: string | undefined;
      return {
        take() {
          if (served !== undefined) owners.again(served);
          for (served = owners.take(); served !== undefined; served = owners.take()) {
            const range = within.get(served)?.take();
            if (range !== undefined) return range;
          }
          return undefined;
        },
        again: (range) => within.get(range.owner)?.again(range),
      };
    },
    charge(range, cost) {
      charge(level(getOwners(range)), range.owner, cost / range.weight);
      charge(level(toRanges(range)), range.id, cost / range.weight);
    },
    keep(ranges) {
      const kept = new Map<string, Set<string | number>>();
      for (const range of ranges) {
        getOrAdd(kept, getOwners(range), () => new Set()).add(range.owner);
        getOrAdd(kept, toRanges(range), () => new Set()).add(range.id);
      }
      for (const [name, { ends }] of levels) {
        const own = kept.get(name);
        if (own === undefined) levels.delete(name);
        for (const one of ends.keys()) if (own?.has(one) !== true) ends.delete(one);
      }
    },
  };
}

/** Those that share: in virtual time, where the last turn started and where the last one of each ended. */
interface Level {
  now: number;
  ends: Map<string | number, number>;
}

function getStart({ now, ends }: Level, one: string | number): number {
  return Math.max(now, ends.get(one) ?? now);
}

function charge(level: Level, one: string | number, cost: number): void {
  level.now = getStart(level, one);
  level.ends.set(one, level.now + cost);
}

/** What waits for a turn: the one with the lowest rank is taken first, and of equal ones the first given. */
interface Turns<T> {
  take(): T | undefined;
  /** Lets it wait for a further turn, by its rank now. */
  again(waiting: T): void;
}

/** Lets all of these wait for their first turn. */
function createTurns<T>(all: readonly T[], getRank: (each: T) => number): Turns<T> {
  const orders = new Map(all.map((each, order) => [each, order]));
  /** The next one is at the end, from where it is taken without moving the others. */
  const waiting = all.map((each) => ({ each, rank: getRank(each) })).reverse();
  const compare = (a: (typeof waiting)[number], b: (typeof waiting)[number]): number =>
    b.rank - a.rank || (orders.get(b.each) as number) - (orders.get(a.each) as number);
  waiting.sort(compare);
  return {
    take: () => waiting.pop()?.each,
    again(each) {
      const own = { each, rank: getRank(each) };
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
