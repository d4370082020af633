import { type Column, type ColumnType, toBytes } from '../records/schema.js';

type Value = NonNullable<Column[number]>;

/** Bytes that are copied one by one sooner than by a call. */
const FEW_BYTES = 80;

/** Values as Parquet has them without an encoding, in a buffer that grows. */
export class PlainValues {
  #buffer = Buffer.allocUnsafe(4_096);
  #end = 0;
  /** Whether every text so far is ASCII: only then their order is that of their bytes. */
  isAscii = true;
  readonly #put: (value: Value) => void;

  constructor(type: ColumnType) {
    this.#put = this.#putters[type];
  }

  get bytes(): number {
    return this.#end;
  }

  add(value: Value): void {
    this.#put(value);
  }

  /** Adds values that are encoded already. */
  addBytes(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#room(length);
    if (length > FEW_BYTES) bytes.copy(this.#buffer, this.#end, start, end);
    else for (let at = 0; at < length; at += 1) this.#buffer[this.#end + at] = bytes[start + at] as number;
    this.#end += length;
  }

  /** Whether the bytes from `start` to `end` are the same as those from `from` on of others. */
  isSame(start: number, end: number, bytes: Buffer, from: number): boolean {
    const own = this.#buffer;
    for (let at = start; at < end; at += 1) if (own[at] !== bytes[from + at - start]) return false;
    return true;
  }

  /** The bytes since the last time; to be used before the next value. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#end);
    this.#end = 0;
    return taken;
  }

  #room(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#end + bytes));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }

  #int64(value: bigint): void {
    this.#room(8);
    this.#end = this.#buffer.writeBigUInt64LE(BigInt.asUintN(64, value), this.#end);
  }

  #int32 = (value: Value): void => {
    this.#room(4);
    this.#end = this.#buffer.writeInt32LE((value as number) | 0, this.#end);
  };

  #text = (value: Value): void => {
    const text = value as string;
    this.#room(4 + 3 * text.length);
    const bytes = this.#buffer.write(text, this.#end + 4);
    if (bytes !== text.length) this.isAscii = false;
    this.#buffer.writeUInt32LE(bytes, this.#end);
    this.#end += 4 + bytes;
  };

  readonly #putters: Readonly<Record<ColumnType, (value: Value) => void>> = {
    BIGINT: (value) => this.#int64(BigInt(value)),
    UBIGINT: (value) => this.#int64(BigInt(value)),
    TIMESTAMP: (value) => this.#int64(BigInt(value) * 1_000_000n),
    INTEGER: this.#int32,
    UINTEGER: this.#int32,
    DOUBLE: (value) => {
      this.#room(8);
      this.#end = this.#buffer.writeDoubleLE(value as number, this.#end);
    },
    'DECIMAL(38,0)': (value) => {
      const bits = BigInt.asUintN(128, value as bigint);
      this.#room(16);
      this.#end = this.#buffer.writeBigUInt64BE(bits >> 64n, this.#end);
      this.#end = this.#buffer.writeBigUInt64BE(bits & 0xffff_ffff_ffff_ffffn, this.#end);
    },
    TEXT: this.#text,
    JSON: this.#text,
    BYTEA: (value) => {
      const bytes = toBytes(value);
      this.#room(4 + bytes.length);
      this.#end = this.#buffer.writeUInt32LE(bytes.length, this.#end);
      this.#end += bytes.copy(this.#buffer, this.#end);
    },
    // A byte each; packed by the page.
    BOOLEAN: (value) => {
      this.#room(1);
      this.#buffer[this.#end++] = value === true ? 1 : 0;
    },
  };
}
