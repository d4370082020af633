import { endOfValue, readMember } from '@packhouse/json';
import type { CodedBatch } from './coded-column.js';
import { FORMS, toBigint } from './forms.js';
import { fieldsOf } from './read-columns.js';
import { type ReadValue, RecordMember } from './record-member.js';
import type { Column, Schema } from './schema.js';
import { findQuote, isSame, viewOf } from './text-words.js';

const [QUOTE, COMMA] = [0x22, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const [LOWER_F, LOWER_N, LOWER_T] = [0x66, 0x6e, 0x74];
const LITERALS: Readonly<Record<number, Buffer>> = {
  [LOWER_F]: Buffer.from('false'),
  [LOWER_N]: Buffer.from('null'),
  [LOWER_T]: Buffer.from('true'),
};
const ROWS = 16_384;

/** A member that records have in this place. */
interface Step {
  /** Where a record has what is before the value, from the bracket or comma on, and its length. */
  start: number;
  length: number;
  /** What its value, or an element of its list, is read into; null: it is only skipped. */
  value: RecordMember | null;
  elements: readonly RecordMember[] | null;
}

/**
 * Reads the records of a bundle into columns without making objects of them. They must be as canonical JSON has them:
 * without space, with members that are texts, booleans or lists of texts, most often the same ones in the same order.
 * Anything else is declined, and so is what a column cannot hold: `createRowCollector` knows what to make of it.
 */
export class RecordScanner {
  readonly #text: Buffer;
  readonly #view: DataView;
  readonly #schema: Schema;
  /** By the order of the schema: the member of a column, and which of its columns. */
  readonly #columns: { member: RecordMember; which: number }[] = [];
  /** By their names and, for elements of lists, places. */
  readonly #values = new Map<string, RecordMember>();
  readonly #lists = new Map<string, RecordMember[]>();
  readonly #time: RecordMember;
  readonly #ownTime: RecordMember;
  readonly #chain: RecordMember;
  readonly #times = new Map<number | null, number>([[null, 0]]);
  /** Of the record before, and the members that it lacks. */
  #steps: readonly Step[] = [];
  #absent: readonly RecordMember[] = [];
  #room = ROWS;
  /** Rows since the last batch, and of the block that was scanned last. */
  #rows = 0;
  #scanned = 0;

  /** Returns null if the table has columns of other values. */
  static create(text: Buffer, schema: Schema, chainId: number): RecordScanner | null {
    const isFlat = fieldsOf(schema).every(
      ({ field, form }) =>
        /^(@time|@chain|\w+(\[\d\])?)$/.test(field) && form !== 'JSON' && !form.startsWith('joined'),
    );
    if (!isFlat) return null;
    const scanner = new RecordScanner(text, schema, chainId);
    return scanner.#chain.learn(chainId) ? scanner : null;
  }

  private constructor(text: Buffer, schema: Schema, chainId: number) {
    this.#text = text;
    this.#view = viewOf(text);
    this.#schema = schema;
    const fields = fieldsOf(schema);
    const add = (name: string, own: readonly ReadValue[] = []): RecordMember => {
      const found = fields.flatMap((field, at) => (field.field === name ? [{ ...field, at }] : []));
      const reads = [...own, ...found.map(({ form }) => FORMS[form].read)];
      const isRequired = found.some(({ required }) => required);
      const member = new RecordMember(text, reads, isRequired, this.#room);
      for (const [n, { at }] of found.entries()) this.#columns[at] = { member, which: own.length + n };
      return member;
    };
    this.#time = add('@time');
    this.#chain = add('@chain');
    // What is the same for a whole block is no column: see createRowCollector.
    this.#ownTime = add('blockTimestamp', [(raw) => raw]);
    this.#values.set('blockTimestamp', this.#ownTime);
    this.#values.set('chainId', add('chainId', [(raw) => (toBigint(raw) === chainId ? chainId : null)]));
    for (const { field } of fields) {
      const [, list, index] = /^(\w+)\[(\d)\]$/.exec(field) ?? [];
      if (list !== undefined) {
        const elements = this.#lists.get(list) ?? [];
        elements[Number(index)] ??= add(field);
        this.#lists.set(list, elements);
      } else if (!field.startsWith('@') && !this.#values.has(field)) this.#values.set(field, add(field));
    }
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
    const { values, places } = this.#ownTime;
    return ((values[0] as Column)[places[this.#rows] as number] ?? null) as string | null;
  }

  /** Scans the block that begins there. Returns the offset behind it; -1: it is declined, and all that follows must be. */
  scan(start: number): number {
    const text = this.#text;
    this.#scanned = 0;
    if (text[start] !== OPEN_BRACKET) return -1;
    if (text[start + 1] === CLOSE_BRACKET) return start + 2;
    let at = start;
    do {
      const row = this.#rows + this.#scanned;
      const record = at + 1;
      at = this.#record(record, row);
      if (at === -1 && this.#learn(record)) at = this.#record(record, row);
      if (at === -1) return -1;
      this.#scanned += 1;
    } while (text[at] === COMMA);
    return text[at] === CLOSE_BRACKET ? at + 1 : -1;
  }

  /** Adds the rows of the block that was scanned last. Returns false if no column can hold its time. */
  add(time: number | null): boolean {
    let place = this.#times.get(time);
    if (place === undefined) {
      place = this.#times.size;
      if (!this.#time.learn(time as number)) return false;
      this.#times.set(time, place);
    }
    if (place === 0 && this.#time.required) return false;
    const rows = this.#rows + this.#scanned;
    this.#time.places.fill(place, this.#rows, rows);
    this.#chain.places.fill(1, this.#rows, rows);
    this.#rows = rows;
    return true;
  }

  /** The rows that were added since the last time. */
  take(): CodedBatch {
    const rows = this.#rows;
    const batch: CodedBatch = { rows, columns: {} };
    for (const [at, { name }] of this.#schema.columns.entries()) {
      const column = this.#columns[at];
      batch.columns[name] =
        column === undefined
          ? { places: new Uint32Array(rows), values: [null] }
          : {
              places: column.member.places.subarray(0, rows),
              values: column.member.values[column.which] as Column,
            };
    }
    for (const member of this.#members()) member.places = new Uint32Array(this.#room);
    this.#rows = 0;
    return batch;
  }

  #members(): RecordMember[] {
    return [this.#time, this.#chain, ...this.#values.values(), ...[...this.#lists.values()].flat()];
  }

  /** Learns the members of the record at `start`. Returns false if it has others than columns, or lacks one. */
  #learn(start: number): boolean {
    const text = this.#text;
    const steps: Step[] = [];
    const names = new Set<string>();
    let at = start;
    while (text[at] === (steps.length === 0 ? OPEN_BRACE : COMMA)) {
      const member = readMember(text, at + 1);
      if (member === null) return false;
      const { nameStart, nameEnd, valueStart } = member;
      const name = text.toString('latin1', nameStart, nameEnd);
      const value = this.#values.get(name) ?? null;
      const elements = this.#lists.get(name) ?? (text[valueStart] === OPEN_BRACKET ? [] : null);
      const isKnown = this.#values.has(name) || this.#lists.has(name) || this.#schema.peer !== undefined;
      if (!isKnown || names.has(name) || name.includes('\\')) return false;
      names.add(name);
      steps.push({ start: at, length: valueStart - at, value, elements: value === null ? elements : null });
      at = endOfValue(text, valueStart);
    }
    const absent: RecordMember[] = [];
    for (const [name, member] of this.#values) if (!names.has(name)) absent.push(member);
    for (const [name, list] of this.#lists) if (!names.has(name)) absent.push(...list);
    this.#steps = steps;
    this.#absent = absent;
    return !absent.some(({ required }) => required);
  }

  /** Offset behind the record at `start`, or -1. */
  #record(start: number, row: number): number {
    const text = this.#text;
    const steps = this.#steps;
    if (row === this.#room) this.#grow();
    let at = start;
    for (let step = 0; step < steps.length; step += 1) {
      const { start: first, length, value, elements } = steps[step] as Step;
      if (!isSame(this.#view, first, at, length)) return -1;
      at += length;
      at = elements === null ? this.#value(at, value, row) : this.#list(at, elements, row);
      if (at === -1) return -1;
    }
    for (let n = 0; n < this.#absent.length; n += 1) (this.#absent[n] as RecordMember).places[row] = 0;
    return at !== start && text[at] === CLOSE_BRACE ? at + 1 : -1;
  }

  #list(start: number, elements: readonly RecordMember[], row: number): number {
    const text = this.#text;
    if (text[start] !== OPEN_BRACKET) return -1;
    let at = start + 1;
    let count = 0;
    while (text[at] === QUOTE) {
      at = this.#value(at, elements[count] ?? null, row);
      count += 1;
      if (at === -1 || text[at] !== COMMA) break;
      at += 1;
      if (text[at] !== QUOTE) return -1;
    }
    for (; count < elements.length; count += 1) {
      const member = elements[count] as RecordMember;
      if (member.required) return -1;
      member.places[row] = 0;
    }
    return text[at] === CLOSE_BRACKET ? at + 1 : -1;
  }

  #value(at: number, member: RecordMember | null, row: number): number {
    const again = member === null ? -1 : member.repeat(at, row);
    if (again !== -1) return again;
    const text = this.#text;
    const first = text[at] as number;
    let end: number;
    if (first === QUOTE) {
      end = findQuote(this.#view, at + 1) + 1;
      if (end === 0) return -1;
    } else {
      const literal = LITERALS[first];
      if (literal === undefined) return -1;
      end = at + literal.length;
      if (end > text.length || literal.compare(text, at, end) !== 0) return -1;
      if (first === LOWER_N) {
        if (member?.required === true) return -1;
        if (member !== null) member.places[row] = 0;
        return end;
      }
    }
    return member === null || member.take(at, end, row) ? end : -1;
  }

  #grow(): void {
    this.#room *= 2;
    for (const member of this.#members()) {
      const larger = new Uint32Array(this.#room);
      larger.set(member.places);
      member.places = larger;
    }
  }
}
