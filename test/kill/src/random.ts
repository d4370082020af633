/** A seeded random source: the same seed gives the same sequence everywhere. */
interface Random {
  /** From 0 up to, and without, 1. */
  unit(): number;
  /** An integer from 0 to `below` - 1. */
  int(below: number): number;
  pick<T>(items: readonly T[]): T;
  /** A new list with the same items in another order. */
  shuffled<T>(items: readonly T[]): T[];
}

/** splitmix32: two multiplications a number, and far more even than a test of this kind needs. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const unit = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(unit() * below);
  return {
    unit,
    int,
    pick: (items) => items[int(items.length)] as (typeof items)[number],
    shuffled(items) {
      const copy = [...items];
      for (let at = copy.length - 1; at > 0; at--) {
        const other = int(at + 1);
        [copy[at], copy[other]] = [copy[other] as (typeof copy)[number], copy[at] as (typeof copy)[number]];
      }
      return copy;
    },
  };
}
