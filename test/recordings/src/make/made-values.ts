import { createHash } from 'node:crypto';

/** 32 bytes that follow from a name, for keys, addresses and hashes that nothing else decides. */
export function toMadeBytes(name: string): Buffer {
  return createHash('sha256').update(`packhouse made ${name}`).digest();
}

export function toMadeHash(name: string): `0x${string}` {
  return `0x${toMadeBytes(name).toString('hex')}`;
}

export function toMadeAddress(name: string): `0x${string}` {
  return `0x${toMadeBytes(name).toString('hex', 12)}`;
}

/** Numbers that look random and follow from a name. */
export interface Dice {
  /** From 0 to below `limit`. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

export function createDice(name: string): Dice {
  let rolled = 0;
  const below = (limit: number): number => {
    rolled += 1;
    return toMadeBytes(`${name} ${rolled}`).readUInt32BE(0) % limit;
  };
  return { below, pick: (list) => list[below(list.length)]! };
}
