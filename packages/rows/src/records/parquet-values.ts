import type { ColumnBytes } from '@packhouse/kernels';
import type { Column, ColumnType } from './schema.js';

/** Types whose values are encoded as a bundle is read: see `ValueColumn` of the kernels. */
export type ParquetValueType = Extract<
  ColumnType,
  'TEXT' | 'JSON' | 'BIGINT' | 'INTEGER' | 'DECIMAL(38,0)' | 'DOUBLE'
>;

/**
 * Values of a column, each once, as Parquet has them without an encoding. They are made into those of JavaScript when
 * somebody asks for them. The one at 0 is null.
 */
export class ParquetValues {
  readonly type: ParquetValueType;
  bytes: Buffer = Buffer.alloc(0);
  /** Where the value at each place ends, and a hash of its bytes; it begins where the one before ends. */
  ends = new Uint32Array(1);
  hashes = new Uint32Array(1);
  #length = 1;
  readonly #decoded: Column = [];

  constructor(type: ParquetValueType) {
    this.type = type;
  }

  get length(): number {
    return this.#length;
  }

  /** Takes the values that are there since the last time. */
  append({ bytes, values }: ColumnBytes): void {
    const length = values.length / 2 + 1;
    if (length === this.#length) return;
    const known = this.ends[this.#length - 1] as number;
    if (this.bytes.length < bytes.length) {
      const larger = Buffer.allocUnsafe(known === 0 ? bytes.length : bytes.length * 2);
      larger.set(this.bytes.subarray(0, known));
      this.bytes = larger;
    }
    this.bytes.set(bytes.subarray(known), known);
    if (length > this.ends.length) {
      const [ends, hashes] = [this.ends, this.hashes];
      const room = this.#length === 1 ? length : length * 2;
      this.ends = new Uint32Array(room);
      this.ends.set(ends);
      this.hashes = new Uint32Array(room);
      this.hashes.set(hashes);
    }
    for (let place = this.#length; place < length; place += 1) {
      this.ends[place] = values[2 * place - 2] as number;
      this.hashes[place] = values[2 * place - 1] as number;
    }
    this.#length = length;
  }

  get(place: number): Column[number] {
    if (place === 0) return null;
    const known = this.#decoded[place];
    if (known !== undefined) return known;
    const value = decodeValue(
      this.type,
      this.bytes,
      this.ends[place - 1] as number,
      this.ends[place] as number,
    );
    this.#decoded[place] = value;
    return value;
  }
}

/** The value that these bytes are. */
export function decodeValue(
  type: ParquetValueType,
  bytes: Buffer,
  start: number,
  end: number,
): NonNullable<Column[number]> {
  if (type === 'TEXT' || type === 'JSON') return bytes.toString('latin1', start + 4, end);
  if (type === 'DOUBLE') return bytes.readDoubleLE(start);
  if (type === 'INTEGER') return bytes.readUInt32LE(start);
  if (type === 'BIGINT') {
    // Below 2^52 numbers are numbers; hex of more than 13 digits is a bigint.
    const high = bytes.readUInt32LE(start + 4);
    if (high < 2 ** 20) return high * 2 ** 32 + bytes.readUInt32LE(start);
    return bytes.readBigUInt64LE(start);
  }
  return (bytes.readBigUInt64BE(start) << 64n) | bytes.readBigUInt64BE(start + 8);
}
