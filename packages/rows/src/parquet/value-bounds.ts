import { decodeValue, type ParquetValueType } from '../records/parquet-values.js';
import type { Column } from '../records/schema.js';

type Value = NonNullable<Column[number]>;

/** The least and the largest of values, some of which are encoded. */
export class ValueBounds {
  #min: Value | undefined;
  #max: Value | undefined;
  #type: ParquetValueType = 'TEXT';
  /** Copies of the least and the largest encoded ones. */
  #least: Buffer | null = null;
  #most: Buffer | null = null;

  add(value: Value): void {
    if (this.#min === undefined || value < this.#min) this.#min = value;
    if (this.#max === undefined || value > this.#max) this.#max = value;
  }

  /** Adds an encoded value; all such values have one type. */
  addBytes(type: ParquetValueType, bytes: Buffer, start: number, end: number): void {
    this.#type = type;
    if (this.#least === null || compare(type, bytes, start, end, this.#least) < 0) {
      this.#least = Buffer.from(bytes.subarray(start, end));
    }
    if (this.#most === null || compare(type, bytes, start, end, this.#most) > 0) {
      this.#most = Buffer.from(bytes.subarray(start, end));
    }
  }

  /** The least and the largest; undefined: there was none. */
  get(): { min: Value | undefined; max: Value | undefined } {
    for (const bytes of [this.#least, this.#most]) {
      if (bytes !== null) this.add(decodeValue(this.#type, bytes, 0, bytes.length));
    }
    return { min: this.#min, max: this.#max };
  }
}

/** How a value from `start` to `end` is to another: numbers are not negative, so the order is that of their bytes. */
function compare(type: ParquetValueType, bytes: Buffer, start: number, end: number, other: Buffer): number {
  if (type === 'BIGINT' || type === 'INTEGER' || type === 'DOUBLE') {
    for (let at = end - 1; at >= start; at -= 1) {
      const difference = (bytes[at] as number) - (other[at - start] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }
  // Texts have their length before them.
  const skipped = type === 'TEXT' ? 4 : 0;
  const length = Math.min(end - start, other.length);
  for (let at = skipped; at < length; at += 1) {
    const difference = (bytes[start + at] as number) - (other[at] as number);
    if (difference !== 0) return difference;
  }
  return end - start - other.length;
}
