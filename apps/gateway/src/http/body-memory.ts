/** Counts the bodies of requests, from before they are read until the requests are answered. */
export interface BodyMemory {
  /**
   * Reserves so many more bytes for a body, of which `held` are reserved. Its owner is the id of a key, or an address.
   * False: there is no room.
   */
  reserve(owner: number | string, bytes: number, held: number): boolean;
  free(owner: number | string, bytes: number): void;
  readonly bytes: number;
}

/** Owners that are kept with nothing reserved: adding and deleting one for each request costs as much as its parsing. */
const KEPT_OWNERS = 1_000;
/** An owner has this part of the memory at most. */
const SHARE = 1 / 4;

/**
 * Creates a memory of `maxBytes`. The only body of an owner may be larger than its share, and the only one of all larger
 * than the memory, so that every body that is allowed has a turn.
 */
export function createBodyMemory(maxBytes: number): BodyMemory {
  const share = maxBytes * SHARE;
  const reserved = new Map<number | string, number>();
  let all = 0;
  return {
    reserve(owner, bytes, held) {
      const mine = reserved.get(owner) ?? 0;
      const fits = (all === held || all + bytes <= maxBytes) && (mine === held || mine + bytes <= share);
      if (!fits) return false;
      all += bytes;
      reserved.set(owner, mine + bytes);
      return true;
    },
    free(owner, bytes) {
      all -= bytes;
      const left = (reserved.get(owner) ?? 0) - bytes;
      if (left > 0 || reserved.size <= KEPT_OWNERS) reserved.set(owner, left);
      else reserved.delete(owner);
    },
    get bytes() {
      return all;
    },
  };
}
