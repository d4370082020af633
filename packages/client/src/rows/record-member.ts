import type { Column } from './schema.js';
import { SlicePool } from './slice-pool.js';
import { isSame, viewOf } from './text-words.js';

/** Returns null for what the column cannot hold. */
export type ReadValue = (raw: string | number | boolean) => Column[number];

/** A member of the records of a text, or an element of such a list, with the columns that have it. */
export class RecordMember {
  /** Of each row of the batch; 0: null. */
  places: Uint32Array;
  /** For each of the columns; the value at 0 is null. */
  readonly values: readonly Column[];
  readonly required: boolean;
  readonly #text: Buffer;
  readonly #view: DataView;
  readonly #reads: readonly ReadValue[];
  readonly #pool: SlicePool;
  /** In the row before: most often it is the same. */
  #lastStart = 0;
  #lastEnd = 0;
  #lastPlace = 0;

  constructor(text: Buffer, reads: readonly ReadValue[], required: boolean, room: number) {
    this.#text = text;
    this.#reads = reads;
    this.#view = viewOf(text);
    this.#pool = new SlicePool(this.#view);
    this.required = required;
    this.values = reads.map(() => [null]);
    this.places = new Uint32Array(room);
  }

  /** Offset behind the value at `at`, if it is that of the row before, which this row then has; else -1. */
  repeat(at: number, row: number): number {
    const length = this.#lastEnd - this.#lastStart;
    if (length === 0 || !isSame(this.#view, this.#lastStart, at, length)) return -1;
    this.places[row] = this.#lastPlace;
    return at + length;
  }

  /** Takes the text or boolean between two offsets, quotes included, for a row. Returns false if a column cannot hold it. */
  take(start: number, end: number, row: number): boolean {
    const { size } = this.#pool;
    const place = this.#pool.place(start, end) + 1;
    if (place > size) {
      const text = this.#text.toString('latin1', start, end);
      if (!this.learn(text.startsWith('"') ? text.slice(1, -1) : text === 'true')) return false;
    }
    this.places[row] = place;
    this.#lastStart = start;
    this.#lastEnd = end;
    this.#lastPlace = place;
    return true;
  }

  /** Adds a value at the next place. Returns false if a column cannot hold it. */
  learn(raw: string | number | boolean): boolean {
    for (let at = 0; at < this.#reads.length; at += 1) {
      const value = (this.#reads[at] as ReadValue)(raw);
      if (value === null) return false;
      (this.values[at] as Column).push(value);
    }
    return true;
  }
}
