/** A seeded random source: the same seed gives the same sequence everywhere. */
export interface Random {
  /** An integer from 0 to `below` - 1. */
  int(below: number): number;
  /** Whether something of this probability happens. */
  chance(probability: number): boolean;
  /** Hex digits of so many random bytes, without 0x. */
  hex(bytes: number): string;
  pick<T>(items: readonly T[]): T;
  /** An item by Zipf's law: the k-th is taken about 1/k as often as the first. */
  zipf<T>(items: readonly T[]): T;
  /** A geometrically distributed count with this mean. */
  geometric(mean: number): number;
}

/** xorshift32 after Marsaglia (2003): fast, and more than random enough for test data. */
export function createRandom(seed: number): Random {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x6a09e667) >>> 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  for (let warm = 0; warm < 8; warm++) next();
  const unit = (): number => next() / 2 ** 32;
  const int = (below: number): number => Math.floor(unit() * below);
  return {
    int,
    chance: (probability) => unit() < probability,
    hex(bytes) {
      let digits = '';
      while (digits.length < bytes * 2) digits += next().toString(16).padStart(8, '0');
      return digits.slice(0, bytes * 2);
    },
    pick: (items) => items[int(items.length)] as (typeof items)[number],
    // The logarithm turns an even draw into one that halves with every doubling of the rank.
    zipf: (items) => items[Math.floor(items.length ** unit()) - 1] as (typeof items)[number],
    geometric: (mean) => (mean <= 0 ? 0 : Math.floor(Math.log(1 - unit()) / Math.log(mean / (mean + 1)))),
  };
}
