import type { Random } from './random.js';

/** A contract of the synthetic world. */
export interface SyntheticContract {
  address: string;
  /** Four-byte selectors that it is called with. */
  selectors: string[];
}

/** The accounts, contracts and words that a generated chain is about. */
export interface SyntheticWorld {
  accounts: string[];
  contracts: SyntheticContract[];
  /** topic0 of the events by the contract that emits them. */
  events: ReadonlyMap<string, string[]>;
  /** ABI words (64 digits) that come again and again: amounts, identifiers, deadlines. */
  words: string[];
}

/** An address, with 0x. */
export function randomAddress(random: Random): string {
  return `0x${random.hex(20)}`;
}

/** Makes a world of the size that a dozen mainnet blocks touch. */
export function createWorld(random: Random): SyntheticWorld {
  const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
  const selectors = many(250, () => random.hex(4));
  const events = many(200, () => `0x${random.hex(32)}`);
  const contracts = many(1200, () => ({
    address: randomAddress(random),
    selectors: many(1 + random.int(4), () => random.zipf(selectors)),
  }));
  return {
    accounts: many(2500, () => randomAddress(random)),
    contracts,
    events: new Map(
      contracts.map(({ address }) => [address, many(1 + random.int(4), () => random.zipf(events))]),
    ),
    words: many(400, () => randomWord(random)),
  };
}

/** A fresh ABI word, 64 digits: an amount more often than a hash. */
export function randomWord(random: Random): string {
  if (random.chance(0.15)) return random.hex(32);
  const significant = 1 + random.int(10);
  const zeros = random.chance(0.4) ? random.int(significant) * 2 : 0;
  const digits = random.hex(significant);
  return (digits.slice(0, digits.length - zeros) + '0'.repeat(zeros)).padStart(64, '0');
}

/**
 * ABI-encoded arguments of so many words: offsets, addresses, amounts; `dense` is the share of words that are packed
 * full, as in signatures, proofs and swap routes, which hardly compress.
 */
export function randomArguments(random: Random, world: SyntheticWorld, words: number, dense = 0.1): string {
  let text = '';
  for (let at = 0; at < words; at++) {
    const kind = random.int(100);
    if (random.chance(dense)) text += random.hex(32);
    else if (kind < 30) text += ((at + 1 + random.int(8)) * 32).toString(16).padStart(64, '0');
    else if (kind < 55) text += addressWord(someAddress(random, world));
    else if (kind < 75) text += random.zipf(world.words);
    else text += randomWord(random);
  }
  return text;
}

function someAddress(random: Random, world: SyntheticWorld): string {
  return random.chance(0.5) ? random.zipf(world.accounts) : random.zipf(world.contracts).address;
}

/** An address as an ABI word. */
export function addressWord(address: string): string {
  return address.slice(2).padStart(64, '0');
}
