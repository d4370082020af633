import type { ParquetValues, ParquetValueType } from '../records/parquet-values.js';
import type { Column } from '../records/schema.js';
import type { PlainValues } from './plain-values.js';

type Value = NonNullable<Column[number]>;

const FIRST_SLOTS = 1_024;

/**
 * The different values of a column, in the order in which they came, which `plain` has. Encoded values are found by their
 * bytes, others by themselves: if a column has both, a value may be there twice.
 */
export class ValueDictionary {
  readonly #plain: PlainValues;
  readonly #places = new Map<Value, number>();
  /** Places by hashes, and 1 more; 0: the slot is free. At least half are. */
  #slots = new Uint32Array(0);
  #encoded = 0;
  /** The type of the encoded ones; null: there are none. */
  encodedAs: ParquetValueType | null = null;
  /** Of each place: where its bytes end, and the hash of an encoded value. */
  #ends = new Uint32Array(256);
  #hashes = new Uint32Array(256);
  size = 0;

  constructor(plain: PlainValues) {
    this.#plain = plain;
  }

  /** Values that are there by themselves, with their places. */
  get values(): ReadonlyMap<Value, number> {
    return this.#places;
  }

  startOf(place: number): number {
    return place === 0 ? 0 : (this.#ends[place - 1] as number);
  }

  endOf(place: number): number {
    return this.#ends[place] as number;
  }

  place(value: Value): number {
    let place = this.#places.get(value);
    if (place === undefined) {
      this.#plain.add(value);
      place = this.#addPlace(0);
      this.#places.set(value, place);
    }
    return place;
  }

  placeEncoded({ type, bytes, ends, hashes }: ParquetValues, at: number): number {
    this.encodedAs = type;
    if (this.#encoded * 2 >= this.#slots.length) this.#growSlots();
    const hash = hashes[at] as number;
    const [start, end] = [ends[at - 1] as number, ends[at] as number];
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const found = this.#slots[slot] as number;
      if (found === 0) break;
      if (this.#hashes[found - 1] === hash && this.#isAt(found - 1, bytes, start, end)) return found - 1;
      slot = (slot + 1) & mask;
    }
    this.#plain.addBytes(bytes, start, end);
    const place = this.#addPlace(hash);
    this.#slots[slot] = place + 1;
    this.#encoded += 1;
    return place;
  }

  /** Forgets all values. */
  clear(): void {
    this.#places.clear();
    this.#slots.fill(0);
    this.#encoded = 0;
    this.encodedAs = null;
    this.size = 0;
  }

  #isAt(place: number, bytes: Buffer, start: number, end: number): boolean {
    const own = this.startOf(place);
    const ownEnd = this.endOf(place);
    return ownEnd - own === end - start && this.#plain.isSame(own, ownEnd, bytes, start);
  }

  #addPlace(hash: number): number {
    const place = this.size;
    if (place === this.#ends.length) {
      const [ends, hashes] = [this.#ends, this.#hashes];
      this.#ends = new Uint32Array(place * 2);
      this.#ends.set(ends);
      this.#hashes = new Uint32Array(place * 2);
      this.#hashes.set(hashes);
    }
    this.#ends[place] = this.#plain.bytes;
    this.#hashes[place] = hash;
    this.size += 1;
    return place;
  }

  #growSlots(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(Math.max(FIRST_SLOTS, old.length * 2));
    const mask = this.#slots.length - 1;
    for (const found of old) {
      if (found === 0) continue;
      let slot = (this.#hashes[found - 1] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = found;
    }
  }
}
