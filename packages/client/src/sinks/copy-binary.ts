import {
  type CodedBatch,
  type CodedColumn,
  type Column,
  type ColumnType,
  type Schema,
  toBytes,
  valueAt,
} from '@packhouse/rows';

/** `PGCOPY`, flags and the length of an extension, of which there are none. */
export const COPY_HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** Behind the last row. */
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/** Bytes of a piece that is handed on. */
const PIECE_BYTES = 1_048_576;
/** Bytes that are copied one by one: a call costs more than these. */
const SHORT_BYTES = 96;

type Value = NonNullable<Column[number]>;

/**
 * Writes rows in the binary format of COPY (https://www.postgresql.org/docs/current/sql-copy.html): of a coded column
 * each value once, which then is copied to its rows.
 */
export class CopyEncoder {
  readonly #columns: readonly { name: string; type: ColumnType }[];
  /** The values of coded columns, as long as a bundle's batches share them. */
  readonly #known = new WeakMap<CodedColumn['values'], EncodedValues>();

  constructor({ columns }: Schema) {
    this.#columns = columns.map(({ name, type }) => ({ name, type }));
  }

  /** The rows in pieces. A text of Postgres has no NUL: U+FFFD is in its place. Throws RECORD_INVALID. */
  *encode({ rows, columns }: CodedBatch): Generator<Buffer> {
    const cells = this.#columns.map(({ name, type }) => this.#cells(columns[name] ?? [], type));
    let out = new FieldBuffer(PIECE_BYTES);
    for (let row = 0; row < rows; row += 1) {
      out.count(cells.length);
      for (let at = 0; at < cells.length; at += 1) {
        const { places, encoded } = cells[at] as Cells;
        encoded.copyTo(out, places === null ? row : (places[row] as number));
      }
      if (out.end < PIECE_BYTES) continue;
      yield out.taken();
      out = new FieldBuffer(PIECE_BYTES);
    }
    if (out.end > 0) yield out.taken();
  }

  #cells(column: Column | CodedColumn, type: ColumnType): Cells {
    if (Array.isArray(column)) return { places: null, encoded: new PlainCells(column, type) };
    const { places, values } = column;
    let encoded = this.#known.get(values);
    if (encoded === undefined) {
      encoded = new EncodedValues(type);
      this.#known.set(values, encoded);
    }
    encoded.learn(values);
    return { places, encoded };
  }
}

/** A column of a batch: the row at `n` has the value at `places[n]`, or at `n`. */
interface Cells {
  places: Uint32Array | null;
  encoded: { copyTo(out: FieldBuffer, at: number): void };
}

/** Values that are written as they are asked for. */
class PlainCells {
  readonly #values: Column;
  readonly #put: (out: FieldBuffer, value: Value) => void;

  constructor(values: Column, type: ColumnType) {
    this.#values = values;
    this.#put = PUT[type];
  }

  copyTo(out: FieldBuffer, at: number): void {
    const value = this.#values[at] ?? null;
    if (value === null) out.int32(-1);
    else this.#put(out, value);
  }
}

/** Values with their lengths before them, one behind the other. */
class EncodedValues {
  readonly #fields = new FieldBuffer(4_096);
  readonly #put: (out: FieldBuffer, value: Value) => void;
  #ends = new Uint32Array(1_024);
  #count = 0;

  constructor(type: ColumnType) {
    this.#put = PUT[type];
  }

  /** Adds what a list has gained. */
  learn(values: CodedColumn['values']): void {
    if (values.length > this.#ends.length) {
      const larger = new Uint32Array(2 * values.length);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    for (; this.#count < values.length; this.#count += 1) {
      const value = valueAt(values, this.#count);
      if (value === null) this.#fields.int32(-1);
      else this.#put(this.#fields, value);
      this.#ends[this.#count] = this.#fields.end;
    }
  }

  copyTo(out: FieldBuffer, at: number): void {
    out.copy(this.#fields, at === 0 ? 0 : (this.#ends[at - 1] as number), this.#ends[at] as number);
  }
}

/** Fields one behind the other, in a buffer that grows. */
class FieldBuffer {
  bytes: Buffer;
  end = 0;

  constructor(room: number) {
    // Room for the row that goes beyond it.
    this.bytes = Buffer.allocUnsafeSlow(room + (room >> 4));
  }

  taken(): Buffer {
    return this.bytes.subarray(0, this.end);
  }

  #room(bytes: number): void {
    if (this.end + bytes <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.end + bytes));
    larger.set(this.bytes.subarray(0, this.end));
    this.bytes = larger;
  }

  count(fields: number): void {
    this.#room(2);
    this.end = this.bytes.writeInt16BE(fields, this.end);
  }

  int32(value: number): void {
    this.#room(4);
    this.end = this.bytes.writeInt32BE(value, this.end);
  }

  int64(value: bigint): void {
    this.#room(12);
    this.end = this.bytes.writeInt32BE(8, this.end);
    this.end = this.bytes.writeBigInt64BE(value, this.end);
  }

  byte(value: number): void {
    this.int32(1);
    this.#room(1);
    this.bytes[this.end] = value;
    this.end += 1;
  }

  double(value: number): void {
    this.#room(12);
    this.end = this.bytes.writeInt32BE(8, this.end);
    this.end = this.bytes.writeDoubleBE(value, this.end);
  }

  text(value: string): void {
    this.#room(4 + 3 * value.length);
    const bytes = this.bytes.write(value, this.end + 4);
    this.bytes.writeInt32BE(bytes, this.end);
    this.end += 4 + bytes;
  }

  raw(value: Uint8Array): void {
    this.int32(value.length);
    this.#room(value.length);
    this.bytes.set(value, this.end);
    this.end += value.length;
  }

  copy(source: FieldBuffer, start: number, end: number): void {
    const length = end - start;
    this.#room(length);
    const from = source.bytes;
    const to = this.bytes;
    let at = this.end;
    if (length > SHORT_BYTES) to.set(from.subarray(start, end), at);
    else for (let n = start; n < end; n += 1) to[at++] = from[n] as number;
    this.end += length;
  }
}

/** Microseconds between 1970 and 2000, where the time of Postgres begins. */
const EPOCH = 946_684_800_000_000n;

const text = (out: FieldBuffer, value: Value): void => {
  const given = value as string;
  out.text(given.includes('\0') ? given.replaceAll('\0', '\ufffd') : given);
};
const int64 = (out: FieldBuffer, value: Value): void => out.int64(BigInt(value));
const numeric = (out: FieldBuffer, value: Value): void => out.raw(toNumeric(BigInt(value)));

const PUT: Readonly<Record<ColumnType, (out: FieldBuffer, value: Value) => void>> = {
  BIGINT: int64,
  // Postgres has bigint for it.
  UINTEGER: int64,
  INTEGER(out, value) {
    out.int32(4);
    out.int32(value as number);
  },
  UBIGINT: numeric,
  'DECIMAL(38,0)': numeric,
  DOUBLE: (out, value) => out.double(value as number),
  TEXT: text,
  JSON: text,
  BYTEA: (out, value) => out.raw(toBytes(value)),
  BOOLEAN: (out, value) => out.byte(value === true ? 1 : 0),
  TIMESTAMP: (out, value) => out.int64(BigInt(value) * 1_000_000n - EPOCH),
};

/** An integer as numeric_send has it: count, weight, sign and scale, then digits to the base 10,000 (16 bits each). */
function toNumeric(value: bigint): Buffer {
  const digits: number[] = [];
  for (let rest = value < 0n ? -value : value; rest > 0n; rest /= 10_000n) {
    digits.unshift(Number(rest % 10_000n));
  }
  const bytes = Buffer.alloc(8 + 2 * digits.length);
  bytes.writeInt16BE(digits.length, 0);
  bytes.writeInt16BE(Math.max(0, digits.length - 1), 2);
  bytes.writeUInt16BE(value < 0n ? 0x4000 : 0, 4);
  for (const [at, digit] of digits.entries()) bytes.writeInt16BE(digit, 8 + 2 * at);
  return bytes;
}
