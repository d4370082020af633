/** A seeded source of numbers: the same seed gives the same numbers on every machine. */
export interface Random {
  /** An integer from 0 up to, and without, `limit`. */
  below(limit: number): number;
  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** From 0 up to, and without, 1. */
  unit(): number;
  pick<Item>(items: readonly Item[]): Item;
  /** A new list with the same items in another order. */
  shuffled<Item>(items: readonly Item[]): Item[];
  /** `bytes` bytes as lower-case hex, without `0x`. */
  hex(bytes: number): string;
}

/** Creates a source from a 32-bit seed (a counter scrambled by multiplications and shifts; not for secrets). */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const unit = (): number => next() / 2 ** 32;
  const below = (limit: number): number => Math.floor(unit() * limit);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    unit,
    pick: (items) => items[below(items.length)]!,
    shuffled(items) {
      const copy = [...items];
      for (let at = copy.length - 1; at > 0; at--) {
        const other = below(at + 1);
        [copy[at], copy[other]] = [copy[other]!, copy[at]!];
      }
      return copy;
    },
    hex: (bytes) => Array.from({ length: bytes }, () => below(256).toString(16).padStart(2, '0')).join(''),
  };
}
