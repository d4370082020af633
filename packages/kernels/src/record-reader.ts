import { RECORDS_BASE64 } from './bytes/records.js';
import * as L from './layout.js';
import { openModule } from './open-module.js';

/** A step through a record: where the text has what is before a value, once, and what the value is read into. */
export interface RecordStep {
  start: number;
  length: number;
  /** The member; null: it is only skipped. */
  member: number | null;
  /**
   * `value`: any value without an escape. `count`: a list of objects, of which the number is read, and 1 more. `end`: there is
   * none, the record ends. Else those of the elements of a list.
   */
  form: 'value' | 'count' | 'end' | readonly (number | null)[];
}

/** A column that is made of the values of a member here. */
export interface ValueColumn {
  member: number;
  /**
   * How values are written, as Parquet has them: texts with their lengths before them, quantities and numbers as 8 or 4
   * bytes (below 2^63 or 2^31), quantities as 16 bytes (at most 38 digits), as doubles, or as decimal text; lists of small
   * numbers as they are.
   */
  form: 'text' | 'int64' | 'int32' | 'decimal' | 'double' | 'digits' | 'path';
}

/** The values of such a column, as they are until the reader is used again. */
export interface ColumnBytes {
  bytes: Buffer;
  /** For each value, where it ends and a hash of its bytes. */
  values: Uint32Array;
}

/** A value that was not there before: the next one of its member, and where the text has it, quotes included. */
type OnValue = (member: number, start: number, end: number) => boolean;

/**
 * Reads the records of a text: the values of each member are numbered from 1 on in the order in which they are found,
 * and each row has the number of its value, or 0 for null.
 */
export interface RecordReader {
  /**
   * Takes the steps through records of one more shape, and the members that they lack. An older one is forgotten if there
   * are many. Returns false if it has too many steps.
   */
  learn(steps: readonly RecordStep[], absent: readonly number[]): boolean;
  /**
   * Reads from a record that begins at `start` to the end of its array, the first as row `row`. Returns the offset
   * behind the array; -1 if a record is another, or there is no memory for its values.
   */
  read(start: number, row: number): number;
  /** Reads the one record that begins at `start`. Returns the offset behind it; -1 as `read`. */
  readOne(start: number, row: number): number;
  /** Where `read` ended without the end of the array: the record that is another, and its row. */
  readonly stopped: number;
  /** The row behind the last one. */
  readonly row: number;
  /**
   * Adds the new values to the columns, and tells those of members without one, each once, until one is refused. Returns
   * whether none was, and the columns could hold theirs.
   */
  eachNew(onValue: OnValue): boolean;
  /** The values of a column; the number of the first is 1. */
  column(column: number): ColumnBytes;
  /** The number that a row has of a member. */
  numberAt(member: number, row: number): number;
  /** The numbers of the first rows, as a copy. */
  numbers(member: number, rows: number): Uint32Array;
  /** To be called when no more is read: another reader may have the memory. */
  close(): void;
}

/** See kernel/records/records.ts. */
interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  MEMBERS: { value: number };
  SHAPES: { value: number };
  COLUMNS: { value: number };
  begin(length: number, members: number): number;
  learn(count: number, newest: number): void;
  read(start: number, row: number): number;
  readOne(start: number, row: number): number;
  rows(): number;
  stopped(): number;
  numbersOf(member: number): number;
  newsAt(): number;
  newsLength(): number;
  forgetNews(): void;
  addNews(): number;
}

type Kernel = Exports & { bytes(): Buffer };

const COLUMN_FORMS: Readonly<Record<ValueColumn['form'], number>> = {
  text: L.FORM_TEXT,
  int64: L.FORM_INT64,
  int32: L.FORM_INT32,
  decimal: L.FORM_DECIMAL,
  double: L.FORM_DOUBLE,
  digits: L.FORM_DIGITS,
  path: L.FORM_PATH,
};

const FORMS = { value: L.NO_LIST, count: L.COUNTED, end: L.NO_VALUE };

/** Of a kernel that is kept for the next reader. */
const KEPT_BYTES = 96 * 1024 * 1024;
/** Transactions and their receipts are read at the same time. */
const MAX_SPARES = 2;
const spares: Kernel[] = [];

/**
 * Opens a reader of a text, for members of which some are required: a record whose value is null, or absent in a list,
 * is another. Columns of one member follow each other. Returns null if they are too many, the text is too long, or there is no
 * WebAssembly with SIMD.
 */
export function openRecordReader(
  text: Uint8Array,
  required: readonly boolean[],
  columns: readonly ValueColumn[] = [],
): RecordReader | null {
  if (required.length > L.MAX_MEMBERS || columns.length > L.MAX_COLUMNS) return null;
  const kernel = takeKernel();
  const at = kernel?.begin(text.length, required.length) ?? 0;
  if (kernel === null || at === 0) return null;
  kernel.bytes().set(text, at);
  const put = (offset: number, value: number): number => kernel.bytes().writeUInt32LE(value, offset);
  for (const [member, isRequired] of required.entries()) {
    put(kernel.MEMBERS.value + member * L.MEMBER_BYTES + L.MEMBER_REQUIRED, isRequired ? 1 : 0);
  }
  for (const [column, { member, form }] of columns.entries()) {
    put(kernel.COLUMNS.value + column * L.COLUMN_BYTES, member);
    put(kernel.COLUMNS.value + column * L.COLUMN_BYTES + L.COLUMN_FORM, COLUMN_FORMS[form]);
    if (columns[column - 1]?.member !== member)
      put(kernel.MEMBERS.value + member * L.MEMBER_BYTES + L.MEMBER_COLUMNS, column + 1);
  }
  let learned = 0;
  const numbersOf = (member: number, row: number, rows: number): Uint32Array =>
    new Uint32Array(kernel.memory.buffer, kernel.numbersOf(member) + 4 * row, rows);
  return {
    learn(steps, absent) {
      const listed = steps.flatMap(({ form }) => (typeof form === 'string' ? [] : form));
      if (steps.length > L.MAX_RECORD_STEPS || listed.length > L.MAX_MEMBERS) return false;
      const newest = learned % L.MAX_SHAPES;
      const shape = kernel.SHAPES.value + newest * L.SHAPE_BYTES;
      learned += 1;
      put(shape, steps.length);
      put(shape + L.SHAPE_ABSENT_COUNT, absent.length);
      let lists = 0;
      for (const [n, { start, length, member, form }] of steps.entries()) {
        const step = shape + L.SHAPE_STEPS + n * L.RECORD_STEP_BYTES;
        put(step, start);
        put(step + L.RECORD_STEP_LENGTH, length);
        put(step + L.RECORD_STEP_MEMBER, typeof form === 'string' ? (member ?? L.NO_MEMBER) : lists);
        put(step + L.RECORD_STEP_COUNT, typeof form === 'string' ? FORMS[form] : form.length);
        if (typeof form !== 'string') lists += form.length;
      }
      for (const [n, member] of listed.entries()) put(shape + L.SHAPE_LISTS + 4 * n, member ?? L.NO_MEMBER);
      for (const [n, member] of absent.entries()) put(shape + L.SHAPE_ABSENT + 4 * n, member);
      kernel.learn(Math.min(learned, L.MAX_SHAPES), newest);
      return true;
    },
    read: (start, row) => kernel.read(start, row) || -1,
    readOne: (start, row) => kernel.readOne(start, row) || -1,
    get stopped() {
      return kernel.stopped();
    },
    get row() {
      return kernel.rows();
    },
    eachNew(onValue) {
      if (columns.length > 0 && kernel.addNews() === 0) return false;
      const count = kernel.newsLength();
      const news = new Uint32Array(kernel.memory.buffer, kernel.newsAt(), (count * L.NEWS_BYTES) / 4);
      kernel.forgetNews();
      for (let at = 0; at < news.length; at += 3) {
        if (!onValue(news[at] as number, news[at + 1] as number, news[at + 2] as number)) return false;
      }
      return true;
    },
    column(column) {
      const at = kernel.COLUMNS.value + column * L.COLUMN_BYTES;
      const memory = kernel.bytes();
      const [start, values] = [
        memory.readUInt32LE(at + L.COLUMN_AT),
        memory.readUInt32LE(at + L.COLUMN_VALUES),
      ];
      const count = memory.readUInt32LE(at + L.COLUMN_COUNT);
      return {
        bytes: memory.subarray(start, start + memory.readUInt32LE(at + L.COLUMN_LENGTH)),
        values: new Uint32Array(kernel.memory.buffer, values, (count * L.COLUMN_VALUE_BYTES) / 4),
      };
    },
    numberAt: (member, row) => numbersOf(member, row, 1)[0] as number,
    numbers: (member, rows) => numbersOf(member, 0, rows).slice(),
    close() {
      if (spares.length < MAX_SPARES && kernel.memory.buffer.byteLength <= KEPT_BYTES) spares.push(kernel);
    },
  };
}

/** A kernel that nobody uses; null where Node has no WebAssembly with SIMD. */
function takeKernel(): Kernel | null {
  const kernel = spares.pop();
  if (kernel !== undefined) return kernel;
  try {
    return openModule<Exports>(RECORDS_BASE64);
  } catch {
    return null;
  }
}
