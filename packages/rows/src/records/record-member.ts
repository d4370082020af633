import type { ValueColumn } from '@packhouse/kernels';
import type { FieldColumn, Form } from './field-column.js';
import { FORMS, toBigint } from './forms.js';
import { ParquetValues } from './parquet-values.js';
import { fieldsOf } from './read-columns.js';
import type { Column, Schema } from './schema.js';

/** Returns null for what the column cannot hold. */
type ReadValue = (raw: unknown) => Column[number];

/** A member of the records of a text, or an element of such a list, with the columns that have it. */
export class RecordMember {
  /** For each of the columns, by the numbers of the values; the value at 0 is null. */
  readonly values: readonly (Column | ParquetValues)[];
  readonly required: boolean;
  /** How the reader of records writes the values of each column; null: they are learned one by one. */
  readonly forms: readonly ValueColumn['form'][] | null;
  readonly #reads: readonly ReadValue[];

  constructor(reads: readonly ReadValue[], required: boolean, encoded: readonly Encoding[] | null = null) {
    this.#reads = reads;
    this.required = required;
    this.forms = encoded?.map(({ form }) => form) ?? null;
    this.values = encoded?.map(({ type }) => new ParquetValues(type)) ?? reads.map(() => [null]);
  }

  /** Adds a value at the next place. Returns false if a column cannot hold it. */
  learn(raw: unknown): boolean {
    for (let at = 0; at < this.#reads.length; at += 1) {
      const value = (this.#reads[at] as ReadValue)(raw);
      if (value === null) return false;
      (this.values[at] as Column).push(value);
    }
    return true;
  }
}

/** How the values of a column are encoded. */
type Encoding = { form: ValueColumn['form']; type: ParquetValues['type'] };

/** The forms that the reader of records writes by itself. */
const ENCODINGS: Partial<Record<Form, Encoding>> = {
  hex: { form: 'text', type: 'TEXT' },
  TEXT: { form: 'text', type: 'TEXT' },
  BIGINT: { form: 'int64', type: 'BIGINT' },
  INTEGER: { form: 'int32', type: 'INTEGER' },
  'DECIMAL(38,0)': { form: 'decimal', type: 'DECIMAL(38,0)' },
  DOUBLE: { form: 'double', type: 'DOUBLE' },
  'decimal text': { form: 'digits', type: 'TEXT' },
};

/** Other JSON than the paths of traces is not checked there. */
function encodingOf({ field, form }: FieldColumn): Encoding | null {
  if (field === 'traceAddress' && form === 'JSON') return { form: 'path', type: 'JSON' };
  return ENCODINGS[form] ?? null;
}

/** What a column of a schema has: a member, or what its name says of the transaction's receipt. */
type MemberColumn = { member: RecordMember /** Which of the member's columns. */; which: number } | 'receipt';

/** The members of records that a schema has columns of. */
export interface Members {
  /** By the order of the schema; absent: no member has it. */
  columns: MemberColumn[];
  /** By their names; a member of an object within by both, as `action.from`. */
  values: Map<string, RecordMember>;
  /** Names of objects within, whose members are among `values`. */
  objects: ReadonlySet<string>;
  /** Lists by their names: elements by their places. */
  lists: Map<string, RecordMember[]>;
  /** Lists by their names of which only the length is a column. */
  counts: Map<string, RecordMember>;
  /** The time that a record has, which is one of `values`. */
  ownTime: RecordMember;
  /** What no record has: the time of its block and the chain. */
  time: RecordMember;
  chain: RecordMember;
}

/** Whether it is in records, as a value and not as a length. */
function isRead(name: string): boolean {
  return !name.startsWith('@') && !name.endsWith('.length');
}

/** What is the same for a whole block is no column, but read: see createRowCollector. */
export function toMembers(schema: Schema, chainId: number): Members {
  const fields = fieldsOf(schema);
  const columns: MemberColumn[] = [];
  const add = (name: string, own: readonly ReadValue[] = []): RecordMember => {
    const found = fields.flatMap((field, at) => (field.field === name ? [{ ...field, at }] : []));
    const reads = [...own, ...found.map(({ form }) => FORMS[form].read)];
    const isRequired = found.some(({ required }) => required);
    const encodings = own.length > 0 || !isRead(name) ? [] : found.map(encodingOf);
    const isEncoded = encodings.length > 0 && encodings.every((each) => each !== null);
    const member = new RecordMember(reads, isRequired, isEncoded ? (encodings as Encoding[]) : null);
    for (const [n, { at }] of found.entries()) columns[at] = { member, which: own.length + n };
    return member;
  };
  const ownTime = add('blockTimestamp', [(raw) => raw as Column[number]]);
  const values = new Map([
    ['blockTimestamp', ownTime],
    ['chainId', add('chainId', [(raw) => (toBigint(raw) === chainId ? chainId : null)])],
  ]);
  const lists = new Map<string, RecordMember[]>();
  const counts = new Map<string, RecordMember>();
  const objects = new Set<string>();
  for (const [at, { field }] of fields.entries()) {
    const [, list, index] = /^(\w+)\[(\d)\]$/.exec(field) ?? [];
    const [outer = '', inner] = field.split('.');
    if (list !== undefined) {
      const elements = lists.get(list) ?? [];
      elements[Number(index)] ??= add(field);
      lists.set(list, elements);
    } else if (outer === 'receipt') columns[at] = 'receipt';
    else if (inner === 'length') counts.set(outer, counts.get(outer) ?? add(field));
    else if (!field.startsWith('@') && !values.has(field)) {
      values.set(field, add(field));
      if (inner !== undefined) objects.add(outer);
    }
  }
  return {
    columns,
    values,
    objects,
    lists,
    counts,
    ownTime,
    time: add('@time'),
    chain: add('@chain'),
  };
}
