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
  /** Tells the new values since the last time, each once, until one is refused. Returns whether none was. */
  eachNew(onValue: OnValue): boolean;
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
}

type Kernel = Exports & { bytes(): Buffer };

const FORMS = { value: L.NO_LIST, count: L.COUNTED, end: L.NO_VALUE };

/** Of a kernel that is kept for the next reader. */
const KEPT_BYTES = 96 * 1024 * 1024;
/** Transactions and their receipts are read at the same time. */
const MAX_SPARES = 2;
const spares: Kernel[] = [];

/**
 * Opens a reader of a text, for members of which some are required: a record whose value is null, or absent in a list,
 * is another. Returns null if they are too many, the text is too long, or there is no WebAssembly with SIMD.
 */
export function openRecordReader(text: Uint8Array, required: readonly boolean[]): RecordReader | null {
  if (required.length > L.MAX_MEMBERS) return null;
  const kernel = takeKernel();
  const at = kernel?.begin(text.length, required.length) ?? 0;
  if (kernel === null || at === 0) return null;
  kernel.bytes().set(text, at);
  const put = (offset: number, value: number): number => kernel.bytes().writeUInt32LE(value, offset);
  for (const [member, isRequired] of required.entries()) {
    put(kernel.MEMBERS.value + member * L.MEMBER_BYTES + L.MEMBER_REQUIRED, isRequired ? 1 : 0);
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
      const count = kernel.newsLength();
      const news = new Uint32Array(kernel.memory.buffer, kernel.newsAt(), (count * L.NEWS_BYTES) / 4);
      kernel.forgetNews();
      for (let at = 0; at < news.length; at += 3) {
        if (!onValue(news[at] as number, news[at + 1] as number, news[at + 2] as number)) return false;
      }
      return true;
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
