import { hash } from 'node:crypto';
import { DIGEST_BYTES } from '@packhouse/kernels';

/*
 * What a filter keeps of an item: the first 10 bytes of SHA-256 of a zero byte and the item. Lists of such digests are
 * bytes, one behind the other.
 */

/** The byte before each item. */
export const ITEM_SEED = 0;

/** The digests of items. */
export function toDigests(items: Iterable<Uint8Array>): Buffer {
  const digests: Buffer[] = [];
  for (const item of items) {
    const seeded = Buffer.allocUnsafe(item.length + 1);
    seeded[0] = ITEM_SEED;
    seeded.set(item, 1);
    digests.push(hash('sha256', seeded, 'buffer').subarray(0, DIGEST_BYTES));
  }
  return Buffer.concat(digests);
}

/** Digests as the numbers that they are made of, by their places. */
export interface Digests {
  count: number;
  /** 32 bits each. */
  firsts: Uint32Array;
  ribbons: Uint32Array;
  /** 16 bits each. */
  fingerprints: Uint16Array;
}

/** Reads lists of digests, each digest once. */
export function distinctDigests(lists: readonly Uint8Array[]): Digests {
  const most = lists.reduce((sum, list) => sum + list.length, 0) / DIGEST_BYTES;
  const firsts = new Uint32Array(most);
  const ribbons = new Uint32Array(most);
  const fingerprints = new Uint16Array(most);
  // Their places, counted from 1, by their first bits; at least half of it stays empty.
  const mask = 2 ** Math.ceil(Math.log2(most + 1) + 1) - 1;
  const places = new Uint32Array(mask + 1);
  let count = 0;
  for (const { buffer, byteOffset, byteLength } of lists) {
    const view = new DataView(buffer, byteOffset, byteLength);
    for (let at = 0; at < byteLength; at += DIGEST_BYTES) {
      firsts[count] = view.getUint32(at, true);
      ribbons[count] = view.getUint32(at + 4, true);
      fingerprints[count] = view.getUint16(at + 8, true);
      let slot = (firsts[count] as number) & mask;
      for (; places[slot] !== 0; slot = (slot + 1) & mask) {
        const other = (places[slot] as number) - 1;
        const same = firsts[other] === firsts[count] && ribbons[other] === ribbons[count];
        if (same && fingerprints[other] === fingerprints[count]) break;
      }
      if (places[slot] !== 0) continue;
      count += 1;
      places[slot] = count;
    }
  }
  return { count, firsts, ribbons, fingerprints };
}
