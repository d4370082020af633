import { endOfValue, readMember } from '@packhouse/json';
import { openRecordReader, type RecordReader, type RecordStep } from '@packhouse/kernels';
import type { CodedBatch } from './coded-column.js';
import { fieldsOf, hasExtra } from './read-columns.js';
import { type Members, type RecordMember, toMembers } from './record-member.js';
import type { Column, Schema } from './schema.js';

const [QUOTE, COMMA, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x22, 0x2c, 0x7b, 0x5b, 0x5d];
const LOWER_T = 0x74;

/**
 * Reads the records of a bundle into columns without making objects of them. They must be as canonical JSON has them:
 * without space, with members that are texts, booleans or lists of texts, most often the same ones in the same order.
 * Anything else is declined, and so is what a column cannot hold: `createRowCollector` knows what to make of it.
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
  #blocks: { rows: number; time: number }[] = [];
  /** Rows since the last batch, and of the block that was scanned last. */
  #rows = 0;
  #scanned = 0;

  /** Returns null if the table has columns of other values, or there is no WebAssembly with SIMD. */
  static create(text: Buffer, schema: Schema, chainId: number): RecordScanner | null {
    const isFlat = fieldsOf(schema).every(
      ({ field, form }) =>
        /^(@time|@chain|\w+(\[\d\])?)$/.test(field) && form !== 'JSON' && !form.startsWith('joined'),
    );
    if (!isFlat) return null;
    const members = toMembers(schema, chainId);
    if (!members.chain.learn(chainId)) return null;
    const read = [...members.values.values(), ...[...members.lists.values()].flat()];
    const required = read.map((member) => member.required);
    const reader = openRecordReader(text, required);
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
    this.#scanned = 0;
    if (text[start] !== OPEN_BRACKET) return -1;
    if (text[start + 1] === CLOSE_BRACKET) return start + 2;
    let end = -1;
    let at = start + 1;
    let row = this.#rows;
    // A record that is still another one after it was learned is declined.
    for (let learned = -1; end === -1; ) {
      end = this.#reader.read(at, row);
      if (end !== -1) break;
      at = this.#reader.stopped;
      row = this.#reader.row;
      if (at === learned || !this.#learn(at)) return -1;
      learned = at;
    }
    if (!this.#reader.eachNew(this.#addValue)) return -1;
    this.#scanned = this.#reader.row - this.#rows;
    return end;
  }

  /** Adds the rows of the block that was scanned last. Returns false if no column can hold its time. */
  add(time: number | null): boolean {
    let number = this.#times.get(time);
    if (number === undefined) {
      number = this.#times.size;
      if (!this.#members.time.learn(time as number)) return false;
      this.#times.set(time, number);
    }
    if (number === 0 && this.#members.time.required) return false;
    this.#blocks.push({ rows: this.#scanned, time: number });
    this.#rows += this.#scanned;
    return true;
  }

  /** The rows that were added since the last time. */
  take(): CodedBatch {
    const rows = this.#rows;
    const batch: CodedBatch = { rows, columns: {} };
    const { time, chain, columns } = this.#members;
    const copies = new Map(
      this.#read.map((member, place) => [member, this.#reader.numbers(place, rows)] as const),
    );
    copies.set(time, this.#takeTimes());
    copies.set(chain, new Uint32Array(rows).fill(1));
    for (const [at, { name }] of this.#schema.columns.entries()) {
      const column = columns[at];
      batch.columns[name] =
        column === undefined
          ? { places: new Uint32Array(rows), values: [null] }
          : {
              places: copies.get(column.member) as Uint32Array,
              values: column.member.values[column.which] as Column,
            };
    }
    this.#rows = 0;
    return batch;
  }

  close(): void {
    this.#reader.close();
  }

  #takeTimes(): Uint32Array {
    const times = new Uint32Array(this.#rows);
    let row = 0;
    for (const { rows, time } of this.#blocks) {
      times.fill(time, row, row + rows);
      row += rows;
    }
    this.#blocks = [];
    return times;
  }

  readonly #addValue = (place: number, start: number, end: number): boolean => {
    const text = this.#text;
    const member = this.#read[place] as RecordMember;
    if (text[start] === QUOTE) return member.learn(text.toString('latin1', start + 1, end - 1));
    return member.learn(text[start] === LOWER_T);
  };

  /** Learns the members of the record at `start`. Returns false if it has others than columns, or lacks one. */
  #learn(start: number): boolean {
    const text = this.#text;
    const { values, lists } = this.#members;
    const steps: RecordStep[] = [];
    const names = new Set<string>();
    let at = start;
    while (text[at] === (steps.length === 0 ? OPEN_BRACE : COMMA)) {
      const found = readMember(text, at + 1);
      if (found === null) return false;
      const { nameStart, nameEnd, valueStart } = found;
      const name = text.toString('latin1', nameStart, nameEnd);
      const member = values.get(name);
      const list = lists.get(name) ?? (text[valueStart] === OPEN_BRACKET ? [] : null);
      const isKnown = member !== undefined || lists.has(name) || !hasExtra(this.#schema);
      if (!isKnown || names.has(name) || name.includes('\\')) return false;
      names.add(name);
      steps.push({
        start: at,
        length: valueStart - at,
        member: member === undefined ? null : this.#place(member),
        elements: member === undefined ? (list?.map((element) => this.#place(element)) ?? null) : null,
      });
      at = endOfValue(text, valueStart);
    }
    const absent: RecordMember[] = [];
    for (const [name, member] of values) if (!names.has(name)) absent.push(member);
    for (const [name, list] of lists) if (!names.has(name)) absent.push(...list);
    if (absent.some(({ required }) => required)) return false;
    return this.#reader.learn(
      steps,
      absent.map((member) => this.#place(member)),
    );
  }

  #place(member: RecordMember): number {
    return this.#places.get(member) as number;
  }
}
