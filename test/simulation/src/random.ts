/** Numbers that a seed decides. */
export interface Random {
  /** A whole number from 0 to `below` − 1. */
  int(below: number): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** A number from 0 up to, not including, 1. */
  unit(): number;
  pick<T>(items: readonly T[]): T;
  /** One of these by weight. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T;
}

/** Makes a generator (mulberry32): the same seed gives the same numbers on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(unit() * below);
  return {
    unit,
    int,
    between: (low, high) => low + int(high - low + 1),
    pick: (items) => items[int(items.length)] as (typeof items)[number],
    weighted(items) {
      let left = unit() * items.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, item] of items) {
        left -= weight;
        if (left < 0) return item;
      }
      return (items.at(-1) as (typeof items)[number])[1];
    },
  };
}
