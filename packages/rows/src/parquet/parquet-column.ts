import { ByteWriter } from 'hyparquet-writer';
import { type CodedColumn, valueAt } from '../records/coded-column.js';
import { ParquetValues } from '../records/parquet-values.js';
import { type Column, type ColumnType, toBytes } from '../records/schema.js';
import { PlainValues } from './plain-values.js';
import { encodeRuns } from './run-lengths.js';
import { ValueBounds } from './value-bounds.js';
import { ValueDictionary } from './value-dictionary.js';

type Value = NonNullable<Column[number]>;

/** Bytes of values in a page, at which it ends. */
const PAGE_BYTES = 1_048_576;
/** Rows after which a column whose values repeat too rarely goes on without a dictionary. */
const FIRST_LOOK = 4_096;
const MAX_DISTINCT = 0.7;
/** So many row groups after one that went on without a dictionary have none from the beginning. */
const GROUPS_WITHOUT = 7;
/** Where the dictionary would cost more than it saves, or -0 would become 0. */
const NO_DICTIONARY: ReadonlySet<ColumnType> = new Set(['BOOLEAN', 'DOUBLE']);

/** In the place of a place: it is not yet known; there is no value. */
const UNKNOWN = -1;
const NULL = -2;

/** `distinct`: values that do not repeat. */
type Compress = (bytes: Uint8Array, distinct: boolean) => Uint8Array;

/** A column of a row group as it is in the file, and what the footer says about it. */
export interface ColumnChunk {
  bytes: Uint8Array[];
  encodings: ('PLAIN' | 'RLE' | 'RLE_DICTIONARY')[];
  values: number;
  /** Of the pages, before they were compressed. */
  uncompressed: number;
  compressed: number;
  /** Bytes before the first page of data; null: there is no dictionary. */
  dictionary: number | null;
  /** Bounds in the order of the type; undefined: there are none. */
  min: Value | Uint8Array | undefined;
  max: Value | Uint8Array | undefined;
  nulls: number;
}

/**
 * Encodes a column, a row group after another, as its values come: by a dictionary while values repeat, as they are if not. Nothing
 * of a batch is held but what differs. Throws RECORD_INVALID.
 */
export class ParquetColumn {
  readonly #type: ColumnType;
  readonly #required: boolean;
  readonly #compress: Compress;
  readonly #plain: PlainValues;
  readonly #dictionaries: ValueDictionary | null;
  /** null: the row group goes on without. */
  #dictionary: ValueDictionary | null = null;
  #groupsWithout = 0;
  /** Of the page: whether each row has a value, and the places of values in the dictionary. */
  #defined = new Uint8Array(1_024);
  #places = new Uint32Array(1_024);
  #rows = 0;
  #present = 0;
  #look = FIRST_LOOK;
  #last: Value | null = null;
  #lastPlace = 0;
  /** Values of the bundle whose batches come, and for each its place in the dictionary, or one of the two below. */
  #codedValues: CodedColumn['values'] | null = null;
  #coded = new Int32Array(0);
  /** How many places of these may not be unknown. */
  #known = 0;
  #bounds = new ValueBounds();
  #chunk = newChunk();

  constructor({ type, required = false }: { type: ColumnType; required?: boolean }, compress: Compress) {
    this.#type = type;
    this.#required = required;
    this.#compress = compress;
    this.#plain = new PlainValues(type);
    this.#dictionaries = NO_DICTIONARY.has(type) ? null : new ValueDictionary(this.#plain);
    this.#dictionary = this.#dictionaries;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#plain.bytes + this.#chunk.compressed;
  }

  add(column: Column | CodedColumn): void {
    if (!Array.isArray(column)) {
      this.#addCoded(column);
      return;
    }
    for (const value of column) {
      if (this.#rows === this.#defined.length) this.#grow();
      this.#defined[this.#rows++] = value === null ? 0 : 1;
      if (value === null) continue;
      if (this.#dictionary === null) this.#addPlain(value);
      else {
        if (value !== this.#last) this.#lastPlace = this.#dictionary.place(value);
        this.#last = value;
        this.#addPlace(this.#dictionary, this.#lastPlace);
      }
    }
  }

  /** Looks up each value of a bundle once. */
  #addCoded({ places, values }: CodedColumn): void {
    if (this.#codedValues !== values && this.#coded.length >= values.length) {
      this.#coded.fill(UNKNOWN, 0, this.#known);
    } else if (this.#codedValues !== values) this.#coded = new Int32Array(values.length * 2).fill(UNKNOWN);
    else if (this.#coded.length < values.length) {
      const longer = new Int32Array(values.length * 2).fill(UNKNOWN);
      longer.set(this.#coded);
      this.#coded = longer;
    }
    this.#codedValues = values;
    this.#known = values.length;
    // Of another type are those that are written as bytes.
    const encoded = values instanceof ParquetValues && values.type === this.#type ? values : null;
    const coded = this.#coded;
    while (this.#rows + places.length > this.#defined.length) this.#grow();
    let row = 0;
    // Without a look at the values: they are all over the memory.
    for (let dictionary = this.#dictionary; dictionary !== null && row < places.length; row += 1) {
      const at = places[row] as number;
      let place = coded[at] as number;
      if (place === UNKNOWN) coded[at] = place = placeOf(dictionary, values, encoded, at);
      this.#defined[this.#rows++] = place === NULL ? 0 : 1;
      if (place === NULL) continue;
      this.#addPlace(dictionary, place);
      dictionary = this.#dictionary;
    }
    if (encoded !== null) {
      this.#addEncoded(encoded, places, row);
      return;
    }
    for (; row < places.length; row += 1) {
      const value = valueAt(values, places[row] as number);
      if (this.#rows === this.#defined.length) this.#grow();
      this.#defined[this.#rows++] = value === null ? 0 : 1;
      if (value !== null) this.#addPlain(value);
    }
  }

  /** Adds encoded values from a row on, without a dictionary: those that follow each other at once. */
  #addEncoded({ type, bytes, ends }: ParquetValues, places: Uint32Array, from: number): void {
    for (let row = from; row < places.length; ) {
      if (this.#rows === this.#defined.length) this.#grow();
      const first = places[row] as number;
      if (first === 0) {
        this.#defined[this.#rows++] = 0;
        row += 1;
        continue;
      }
      const start = ends[first - 1] as number;
      const room = PAGE_BYTES - this.#plain.bytes;
      let place = first;
      for (;;) {
        const end = ends[place] as number;
        if (type !== 'JSON') this.#bounds.addBytes(type, bytes, ends[place - 1] as number, end);
        this.#defined[this.#rows++] = 1;
        this.#present += 1;
        row += 1;
        if (end - start >= room || this.#rows === this.#defined.length || places[row] !== place + 1) break;
        place += 1;
      }
      this.#plain.addBytes(bytes, start, ends[place] as number);
      if (this.#plain.bytes >= PAGE_BYTES) this.#plainPage();
    }
  }

  #addPlace(dictionary: ValueDictionary, place: number): void {
    this.#places[this.#present++] = place;
    if (this.#present === this.#look) this.#lookAt(dictionary);
  }

  /** Ends the row group. */
  finish(): ColumnChunk {
    if (this.#dictionary !== null && this.#present > 0) this.#lookAt(this.#dictionary);
    const dictionary = this.#dictionary;
    if (dictionary !== null && dictionary.size > 0) {
      const values = this.#plain.take();
      this.#boundAll(dictionary, values);
      this.#page('DICTIONARY_PAGE', 'PLAIN', new Uint8Array(0), values, dictionary.size);
      this.#chunk.dictionary = this.#chunk.compressed;
      const width = Math.max(1, 32 - Math.clz32(dictionary.size - 1));
      const runs = encodeRuns(this.#places, this.#present, width);
      this.#dataPage('RLE_DICTIONARY', Buffer.concat([Uint8Array.of(width), runs]));
    } else if (this.#rows > 0) this.#plainPage();
    const { min, max } = this.#getBounds();
    const chunk = { ...this.#chunk, min, max };
    this.#begin();
    return chunk;
  }

  /** Begins the next row group, in the memory of this one. */
  #begin(): void {
    this.#chunk = newChunk();
    this.#bounds = new ValueBounds();
    this.#look = FIRST_LOOK;
    this.#last = null;
    this.#codedValues = null;
    this.#dictionaries?.clear();
    this.#groupsWithout -= 1;
    this.#dictionary = this.#groupsWithout >= 0 ? null : this.#dictionaries;
  }

  /** Goes on without the dictionary if most values are in it once. */
  #lookAt(dictionary: ValueDictionary): void {
    this.#look *= 2;
    if (dictionary.size < this.#present * MAX_DISTINCT) return;
    const values = Buffer.from(this.#plain.take());
    this.#boundAll(dictionary, values);
    const places = this.#places.subarray(0, this.#present);
    this.#dictionary = null;
    this.#groupsWithout = GROUPS_WITHOUT + 1;
    const rows = this.#rows;
    // Written where it was read.
    const defined = this.#defined;
    this.#rows = 0;
    this.#present = 0;
    let next = 0;
    for (let row = 0; row < rows; row += 1) {
      this.#defined[this.#rows++] = defined[row] as number;
      if (defined[row] === 0) continue;
      const place = places[next++] as number;
      this.#present += 1;
      this.#plain.addBytes(values, dictionary.startOf(place), dictionary.endOf(place));
      if (this.#plain.bytes >= PAGE_BYTES) this.#plainPage();
    }
  }

  /** Takes all values of a dictionary, whose bytes these are, into the bounds. */
  #boundAll(dictionary: ValueDictionary, bytes: Buffer): void {
    const { values, encodedAs, size } = dictionary;
    for (const value of values.keys()) this.#bounds.add(value);
    if (encodedAs === null || encodedAs === 'JSON') return;
    const others = new Set(values.values());
    for (let place = 0; place < size; place += 1) {
      if (others.has(place)) continue;
      this.#bounds.addBytes(encodedAs, bytes, dictionary.startOf(place), dictionary.endOf(place));
    }
  }

  #addPlain(value: Value): void {
    this.#present += 1;
    this.#plain.add(value);
    this.#bounds.add(value);
    if (this.#plain.bytes >= PAGE_BYTES) this.#plainPage();
  }

  #plainPage(): void {
    const values = this.#plain.take();
    this.#dataPage('PLAIN', this.#type === 'BOOLEAN' ? packBits(values) : values);
  }

  #dataPage(encoding: 'PLAIN' | 'RLE_DICTIONARY', values: Uint8Array): void {
    const levels = this.#required ? new Uint8Array(0) : encodeRuns(this.#defined, this.#rows, 1);
    this.#page('DATA_PAGE_V2', encoding, levels, values, this.#rows);
    this.#chunk.values += this.#rows;
    this.#chunk.nulls += this.#rows - this.#present;
    this.#rows = 0;
    this.#present = 0;
  }

  #page(
    type: 'DICTIONARY_PAGE' | 'DATA_PAGE_V2',
    encoding: 'PLAIN' | 'RLE_DICTIONARY',
    levels: Uint8Array,
    values: Uint8Array,
    count: number,
  ): void {
    const compressed = this.#compress(values, type === 'DICTIONARY_PAGE');
    const sizes = [levels.length + values.length, levels.length + compressed.length];
    const nulls = this.#rows - this.#present;
    const head =
      type === 'DICTIONARY_PAGE'
        ? pageHeader([2, ...sizes], 7, [count, ENCODINGS[encoding]])
        : pageHeader([3, ...sizes], 8, [count, nulls, count, ENCODINGS[encoding], levels.length, 0]);
    // What is compressed may be a view of what the next page is made in.
    this.#chunk.bytes.push(head, levels, compressed === values ? values.slice() : compressed);
    this.#chunk.uncompressed += head.length + levels.length + values.length;
    this.#chunk.compressed += head.length + levels.length + compressed.length;
    for (const each of levels.length > 0 ? (['RLE', encoding] as const) : [encoding]) {
      if (!this.#chunk.encodings.includes(each)) this.#chunk.encodings.push(each);
    }
  }

  #getBounds(): Pick<ColumnChunk, 'min' | 'max'> {
    const { min, max } = this.#bounds.get();
    const isText = this.#type === 'TEXT';
    if (min === undefined || max === undefined || this.#type === 'JSON' || (isText && !this.#plain.isAscii)) {
      return { min: undefined, max: undefined };
    }
    // Hex sorts as its bytes do.
    if (this.#type === 'BYTEA') return { min: toBytes(min), max: toBytes(max) };
    if (this.#type === 'BIGINT' || this.#type === 'UBIGINT') return { min: BigInt(min), max: BigInt(max) };
    // The smaller and the larger zero, as the format asks for.
    if (this.#type === 'DOUBLE') return { min: min === 0 ? -0 : min, max: max === 0 ? 0 : max };
    if (this.#type !== 'TIMESTAMP') return { min, max };
    return { min: BigInt(min) * 1_000_000n, max: BigInt(max) * 1_000_000n };
  }

  #grow(): void {
    const defined = new Uint8Array(this.#defined.length * 2);
    defined.set(this.#defined);
    this.#defined = defined;
    const places = new Uint32Array(defined.length);
    places.set(this.#places);
    this.#places = places;
  }
}

function newChunk(): Omit<ColumnChunk, 'min' | 'max'> {
  return {
    bytes: [],
    encodings: [],
    values: 0,
    uncompressed: 0,
    compressed: 0,
    dictionary: null,
    nulls: 0,
  };
}

/** Numbers of encodings in headers of pages. */
const ENCODINGS = { PLAIN: 0, RLE_DICTIONARY: 8 };
/** Types of fields of Thrift's compact protocol, of ids that follow each other. */
const [NEXT_INT32, STRUCT] = [0x15, 12];

/**
 * The `PageHeader` of Parquet in Thrift's compact protocol: its type and sizes, then the header of that type as the field `id`.
 * https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
 */
function pageHeader(sizes: readonly number[], id: number, fields: readonly number[]): Uint8Array {
  const writer = new ByteWriter();
  const write = (values: readonly number[]): void => {
    for (const value of values) {
      writer.appendUint8(NEXT_INT32);
      writer.appendZigZag(value);
    }
  };
  write(sizes);
  writer.appendUint8(((id - sizes.length) << 4) | STRUCT);
  write(fields);
  // Both structs end.
  writer.appendUint8(0);
  writer.appendUint8(0);
  return writer.getBytes();
}

/** Bytes of 0 and 1 as bits, the lowest first. */
function packBits(bytes: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(bytes.length / 8));
  for (let at = 0; at < bytes.length; at += 1) {
    bits[at >> 3] = (bits[at >> 3] as number) | ((bytes[at] as number) << (at & 7));
  }
  return bits;
}

/** The place of a value in the dictionary, which has it then; NULL if there is none. */
function placeOf(
  dictionary: ValueDictionary,
  values: CodedColumn['values'],
  encoded: ParquetValues | null,
  at: number,
): number {
  if (encoded !== null) return at === 0 ? NULL : dictionary.placeEncoded(encoded, at);
  const value = valueAt(values, at);
  return value === null ? NULL : dictionary.place(value);
}
