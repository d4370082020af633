import { openRecordReader, type RecordReader, type RecordStep } from '@packhouse/kernels';
import type { CodedColumn } from './coded-column.js';
import { learnShape } from './learn-shape.js';
import { ParquetValues } from './parquet-values.js';
import { type BlockRows, fieldsOf, hasExtra } from './read-columns.js';
import { type Members, type RecordMember, toMembers } from './record-member.js';
import type { Column, Schema } from './schema.js';

const [QUOTE, OPEN_BRACKET, CLOSE_BRACKET] = [0x22, 0x5b, 0x5d];

/**
 * Reads the records of a bundle into columns without making objects of them. They must be as canonical JSON has them:
 * without space, most often of a few shapes. Anything else is declined, and so is what a column cannot hold:
 * `createRowCollector` knows what to make of it.
 */
export class RecordScanner {
  readonly #text: Buffer;
  readonly #schema: Schema;
  readonly #reader: RecordReader;
  readonly #members: Members;
  /** Those that the reader has, and its number of each. */
  readonly #read: readonly RecordMember[];
  readonly #places: ReadonlyMap<RecordMember, number>;
  readonly #times = new Map<number | null, number>([[null, 0]]);
  /** Of each block since the last batch: its rows, and the number of its time. */
  #blocks: { block: number; rows: number; time: number }[] = [];
  /** Rows since the last batch, and of the block that was scanned last. */
  #rows = 0;
  #scanned = 0;

  /** Returns null if the table has columns of other values, or there is no WebAssembly with SIMD. */
  static create(text: Buffer, schema: Schema, chainId: number): RecordScanner | null {
    const isKnown = fieldsOf(schema).every(
      ({ field, form }) => /^(@time|@chain|\w+(\.\w+|\[\d\])?)$/.test(field) && !form.startsWith('joined'),
    );
    // Other programs leave out traces that failed.
    if (!isKnown || (schema.kind === 'traces' && schema.peer !== undefined)) return null;
    const members = toMembers(schema, chainId);
    if (!members.chain.learn(chainId)) return null;
    const { values, lists, counts } = members;
    const read = [...values.values(), ...[...lists.values()].flat(), ...counts.values()];
    const required = read.map((member) => member.required);
    const encoded = read.flatMap(({ forms }, member) => (forms ?? []).map((form) => ({ member, form })));
    const reader = openRecordReader(text, required, encoded);
    return reader === null ? null : new RecordScanner(text, schema, reader, { members, read });
  }

  private constructor(
    text: Buffer,
    schema: Schema,
    reader: RecordReader,
    { members, read }: { members: Members; read: readonly RecordMember[] },
  ) {
    this.#text = text;
    this.#schema = schema;
    this.#reader = reader;
    this.#members = members;
    this.#read = read;
    this.#places = new Map(read.map((member, place) => [member, place]));
  }

  get rows(): number {
    return this.#rows;
  }

  /** Whether the block that was scanned last has rows. */
  get hasRows(): boolean {
    return this.#scanned > 0;
  }

  /** The time that the first record of that block has. */
  get ownTime(): string | number | boolean | null {
    const { ownTime } = this.#members;
    const number = this.#reader.numberAt(this.#places.get(ownTime) as number, this.#rows);
    return ((ownTime.values[0] as Column)[number] ?? null) as string | null;
  }

  /** Scans the block that begins there. Returns the offset behind it; -1: it is declined, and all that follows must be. */
  scan(start: number): number {
    const text = this.#text;
    // A block of blocks is one record.
    const isOne = this.#schema.kind === 'blocks';
    this.#scanned = 0;
    if (!isOne) {
      if (text[start] !== OPEN_BRACKET) return -1;
      if (text[start + 1] === CLOSE_BRACKET) return start + 2;
    }
    let end = -1;
    let at = isOne ? start : start + 1;
    let row = this.#rows;
    // A record that is still another one after it was learned is declined.
    for (let learned = -1; end === -1; ) {
      end = isOne ? this.#reader.readOne(at, row) : this.#reader.read(at, row);
      if (end !== -1) break;
      at = this.#reader.stopped;
      row = this.#reader.row;
      const shape = at === learned ? null : learnShape(text, at, this.#schema, this.#members);
      if (shape === null) return -1;
      const place = (member: RecordMember): number => this.#places.get(member) as number;
      const steps = shape.steps.map(({ member, form, ...where }): RecordStep => {
        return {
          ...where,
          member: member && place(member),
          form: typeof form === 'string' ? form : form.map(place),
        };
      });
      if (!this.#reader.learn(steps, shape.absent.map(place))) return -1;
      learned = at;
    }
    if (!this.#reader.eachNew(this.#addValue)) return -1;
    this.#scanned = this.#reader.row - this.#rows;
    return end;
  }

  /** Adds the rows of the block that was scanned last. Returns false if no column can hold its time. */
  add(block: number, time: number | null): boolean {
    let number = this.#times.get(time);
    if (number === undefined) {
      number = this.#times.size;
      if (!this.#members.time.learn(time as number)) return false;
      this.#times.set(time, number);
    }
    if (number === 0 && this.#members.time.required) return false;
    this.#blocks.push({ block, rows: this.#scanned, time: number });
    this.#rows += this.#scanned;
    return true;
  }

  /** The rows that were added since the last time. */
  take(): BlockRows {
    const rows = this.#rows;
    const blocks = this.#blocks.flatMap(({ block, rows: own }) => new Array<number>(own).fill(block));
    const batch: BlockRows = { rows, columns: {}, blocks };
    const { time, chain, columns, counts } = this.#members;
    const copies = new Map(
      this.#read.map((member, place) => [member, this.#reader.numbers(place, rows)] as const),
    );
    this.#takeValues();
    for (const member of counts.values()) learnCounts(member, copies.get(member) as Uint32Array);
    copies.set(time, this.#takeTimes());
    copies.set(chain, new Uint32Array(rows).fill(1));
    // Extras have no value, nor what `withReceipts` adds.
    const none = { places: new Uint32Array(rows), values: [null] };
    for (const [at, { name }] of fieldsOf(this.#schema).entries()) {
      const column = columns[at] as Members['columns'][number];
      if (column === 'receipt') {
        batch.columns[name] = none;
      } else {
        batch.columns[name] = {
          places: copies.get(column.member) as Uint32Array,
          values: column.member.values[column.which] as CodedColumn['values'],
        };
      }
    }
    if (hasExtra(this.#schema)) batch.columns.extra = none;
    this.#rows = 0;
    this.#blocks = [];
    return batch;
  }

  close(): void {
    this.#reader.close();
  }

  /** Copies the values that the reader has encoded since the last time. */
  #takeValues(): void {
    let column = 0;
    for (const { values } of this.#read) {
      for (const each of values) {
        if (each instanceof ParquetValues) each.append(this.#reader.column(column++));
      }
    }
  }

  #takeTimes(): Uint32Array {
    const times = new Uint32Array(this.#rows);
    let row = 0;
    for (const { rows, time } of this.#blocks) {
      times.fill(time, row, row + rows);
      row += rows;
    }
    return times;
  }

  readonly #addValue = (place: number, start: number, end: number): boolean => {
    const text = this.#text;
    const member = this.#read[place] as RecordMember;
    if (text[start] === QUOTE) return member.learn(text.toString('latin1', start + 1, end - 1));
    try {
      return member.learn(JSON.parse(text.toString('latin1', start, end)));
    } catch {
      return false;
    }
  };
}

/** The lengths of lists up to the largest: the number of each is one more. */
function learnCounts(member: RecordMember, numbers: Uint32Array): void {
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  const [values] = member.values as readonly [Column];
  while (values.length <= most) member.learn(values.length - 1);
}
