/** Counts the bodies of requests, from before they are read until the requests are answered. */
export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** Owners that are kept with nothing reserved: adding and deleting one for each request costs as much as its parsing. */
const KEPT_OWNERS = 1_000;
/** An owner has this part of the memory at most. */
const SHARE = 1 / 4;

/**
 * Creates a memory of `maxBytes`. The only body of an owner may be larger than its share, and the only one of all larger
 * than the memory, so that every body that is allowed has a turn.
 */
export function createBodyMemory(maxBytes: number) {
  const share = maxBytes * SHARE;
  const reserved = new Map<number | string, number>();
  let all = 0;
  return {
    /**
     * Reserves so many more bytes for a body, of which `already` are reserved. Its owner is the id of a key, or an address.
     * False: there is no room.
     */
    reserve(owner: number | string, bytes: number, already: number): boolean {
      const mine = reserved.get(owner) ?? 0;
      const fits =
        (all === already || all + bytes <= maxBytes) && (mine === already || mine + bytes <= share);
      if (!fits) return false;
      all += bytes;
      reserved.set(owner, mine + bytes);
      return true;
    },
    release(owner: number | string, bytes: number): void {
      all -= bytes;
      const left = (reserved.get(owner) ?? 0) - bytes;
      if (left > 0 || reserved.size <= KEPT_OWNERS) reserved.set(owner, left);
      else reserved.delete(owner);
    },
    get bytes(): number {
      return all;
    },
  };
}
