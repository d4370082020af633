import { PackhouseError } from '@packhouse/runtime';
import {
  EXACT_LENGTH,
  exactNumber,
  isCanonicalData,
  isCanonicalQuantity,
  isLowerHex,
  normalQuantity,
  Scratch,
} from './hex.js';
import type { Kind } from './kinds.js';

/** An object from JSON.parse, with unchecked values. */
export type Raw = Readonly<Record<string, unknown>>;

/** The record that is being read, for errors. */
type RecordName = 'block' | 'transaction' | 'receipt' | 'log' | 'trace' | 'withdrawal';

/** The kinds whose records are read from a node's block; a record of `blocks` holds its transactions. */
export const OF_BLOCK: readonly Kind[] = ['blocks', 'transactions'];
/** The kinds whose records are read from a node's receipts. */
export const OF_RECEIPTS: readonly Kind[] = ['receipts', 'logs'];

/** An optional field: absent, or null if the node sent null and extra fields are kept. */
export type Optional<T> = T | null | undefined;

const MIXED_QUANTITY = /^0x[0-9a-fA-F]+$/;
const MIXED_DATA = /^0x(?:[0-9a-fA-F]{2})*$/;

/**
 * Reads the fields of one block's records: every method returns the canonical form or throws RECORD_INVALID with
 * the block, the record and the field.
 *
 * `known` is a canonical string that the field is likely to equal (the block's hash in each of its logs): an equal
 * value needs no further check.
 */
export class Reader {
  /** Set once it is read. */
  block: number | null = null;
  name: RecordName = 'block';
  index = 0;
  /**
   * The record is of a bundle, not of a node: failures of traces stay as an earlier release wrote them, which did not give
   * them their normal form.
   */
  published = false;
  /** The kinds that hold the record, for errors. */
  kinds: readonly Kind[] = OF_BLOCK;

  constructor(
    /** `extraFields: keep`: keeps a null even if the format has none; otherwise such a null is an absent field. */
    readonly keepExtras: boolean,
    private readonly scratch: Scratch = new Scratch(),
  ) {}

  /** Sets the record that is read from now on, for errors. */
  at(name: RecordName, index: number): void {
    this.name = name;
    this.index = index;
  }

  place(): RecordPlace {
    return {
      block: this.block,
      record: this.name === 'block' ? 'block' : `${this.name} ${this.index}`,
      kinds: this.kinds,
    };
  }

  fail(field: string, expected: string, got: unknown): never {
    throw recordInvalid(this.place(), field, expected, got);
  }

  object(value: unknown, field: string): Raw {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.fail(field, 'an object', value);
    }
    return value as Raw;
  }

  array(value: unknown, field: string): readonly unknown[] {
    if (!Array.isArray(value)) this.fail(field, 'an array', value);
    return value;
  }

  /** An array, each of whose items is read by `read`. */
  items<T>(value: unknown, field: string, read: (item: unknown, index: number) => T): T[] {
    const list = this.array(value, field);
    const items: T[] = [];
    // by index, because map() would skip the holes of a sparse array
    for (let index = 0; index < list.length; index++) items.push(read(list[index], index));
    return items;
  }

  /** QUANTITY, at most 256 bits; leading zeros and capitals are normalised. */
  quantity(value: unknown, field: string, known = ''): string {
    if (typeof value !== 'string') this.fail(field, 'a QUANTITY', value);
    if (value === known && known !== '') return known;
    if (isCanonicalQuantity(value)) return value;
    const quantity = normalQuantity(value) ?? this.fail(field, 'a QUANTITY', value);
    if (quantity.length > 66) this.fail(field, 'a QUANTITY of at most 256 bits', value);
    return quantity;
  }

  /** DATA of any length. */
  data(value: unknown, field: string, known = ''): string {
    if (typeof value !== 'string') this.fail(field, 'DATA', value);
    if (value === known && known !== '') return known;
    if (isCanonicalData(value, this.scratch)) return value;
    if (!MIXED_DATA.test(value)) this.fail(field, 'DATA', value);
    return value.toLowerCase();
  }

  /** DATA of exactly `length` bytes. */
  bytes(value: unknown, field: string, length: number, known = ''): string {
    if (typeof value === 'string') {
      if (value === known && known !== '') return known;
      if (value.length === 2 + 2 * length) {
        if (isCanonicalData(value, this.scratch)) return value;
        if (MIXED_DATA.test(value)) return value.toLowerCase();
      }
    }
    return this.fail(field, `DATA of ${length} bytes`, value);
  }

  /**
   * DATA of 32 bytes that nodes write as a QUANTITY (`r` and `s`): padded with zeros.
   * The format has all 32 bytes; execution-apis has them as uint256.
   */
  word(value: unknown, field: string): string {
    if (typeof value === 'string' && value.length === 66 && isLowerHex(value)) return value;
    if (typeof value !== 'string' || value.length > 66 || !MIXED_QUANTITY.test(value)) {
      this.fail(field, 'DATA of 32 bytes', value);
    }
    return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`;
  }

  /** A JSON integer from 0 to 2^53 - 1. */
  integer(value: unknown, field: string): number {
    if (!Number.isSafeInteger(value) || (value as number) < 0) {
      this.fail(field, 'a non-negative integer', value);
    }
    return value as number;
  }

  boolean(value: unknown, field: string): boolean {
    if (typeof value !== 'boolean') this.fail(field, 'true or false', value);
    return value;
  }

  /** The number in a canonical QUANTITY, which must be below 2^53. */
  number(quantity: string, field: string): number {
    if (quantity.length <= EXACT_LENGTH) return exactNumber(quantity);
    const value = Number(quantity);
    if (!Number.isSafeInteger(value)) this.fail(field, 'a QUANTITY below 2^53', quantity);
    return value;
  }

  optionalQuantity(value: unknown, field: string, known = ''): Optional<string> {
    return value == null ? this.missing(value) : this.quantity(value, field, known);
  }

  optionalBytes(value: unknown, field: string, length: number): Optional<string> {
    return value == null ? this.missing(value) : this.bytes(value, field, length);
  }

  optionalWord(value: unknown, field: string): Optional<string> {
    return value == null ? this.missing(value) : this.word(value, field);
  }

  optionalBoolean(value: unknown, field: string): Optional<boolean> {
    return value == null ? this.missing(value) : this.boolean(value, field);
  }

  /** Null or absent, as the text will be. */
  missing(value: null | undefined): null | undefined {
    return value === null && this.keepExtras ? null : undefined;
  }
}

const SHOWN_LENGTH = 100;

/** A value in a few words, for sentences and error data; never longer than about a line. */
function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    const quoted = JSON.stringify(value.slice(0, SHOWN_LENGTH));
    return value.length > SHOWN_LENGTH
      ? `${quoted} and ${value.length - SHOWN_LENGTH} more characters`
      : quoted;
  }
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  return String(value);
}

/** The block and record that a sentence is about; the block is null until its number is read. */
interface RecordPlace {
  block: number | null;
  /** `block`, `transaction 17`, `log 3`, … */
  record: string;
  kinds: readonly Kind[];
}

/** The error for a record that lacks a required field or has one of the wrong form. */
export function recordInvalid(
  place: RecordPlace,
  field: string,
  expected: string,
  got: unknown,
): PackhouseError {
  const block = place.block === null ? 'A block of unknown number' : `Block ${place.block}`;
  const what = place.record === 'block' ? field : `${place.record}, ${field}`;
  const shown = describeValue(got);
  return new PackhouseError({
    code: 'RECORD_INVALID',
    message: `${block}: ${what}: expected ${expected}, got ${shown}.`,
    hint: 'Another node may give the block as it should be.',
    data: { block: place.block, record: place.record, kinds: place.kinds, field, expected, got: shown },
  });
}
