/** Numbers that a seed decides: the same seed gives the same ones on every machine. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number;
  /** Whether something of one in `times` happens. */
  oneIn(times: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** DATA of so many bytes. */
  data(bytes: number): string;
  /** QUANTITY of up to so many bits; small ones and zero are frequent. */
  quantity(bits: number): string;
}

/** The generator of one of many cases (mulberry32): each case can be made without those before it. */
export function createRandom(seed: number, index = 0): Random {
  let state = (Math.imul(seed, 0x9e37_79b1) ^ Math.imul(index + 1, 0x85eb_ca6b)) >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(unit() * below);
  const digits = (count: number): string => {
    let text = '';
    while (text.length < count)
      text += int(2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return text.slice(0, count);
  };
  return {
    int,
    oneIn: (times) => int(times) === 0,
    pick: (items) => items[int(items.length)]!,
    data: (bytes) => `0x${digits(2 * bytes)}`,
    quantity(bits) {
      const count = 1 + int(Math.max(1, Math.floor(bits / 4)));
      return `0x${digits(count).replace(/^0+(?=.)/, '')}`;
    },
  };
}
