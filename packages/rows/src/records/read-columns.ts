import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { CodedBatch } from './coded-column.js';
import type { FieldColumn, Form } from './field-column.js';
import { FORMS, toBigint } from './forms.js';
import { PEER_COLUMNS } from './peer-schemas.js';
import type { Column, Peer, Schema } from './schema.js';
import { FIELD_COLUMNS, SCHEMA_VERSIONS } from './schemas.js';

/** A record of a bundle. */
export type JsonRecord = Record<string, unknown>;

interface SchemaOptions {
  /** Addresses, hashes, topics and data are bytes and not text. */
  bytes?: boolean;
  /** Has the columns of another program. */
  peer?: Peer | undefined;
  /** Is written as text: numbers of any size are text there. */
  text?: boolean;
  /** See Schema. */
  also?: readonly FieldColumn[];
}

/** A table of some members of the records of a kind, to be made into something else. */
export function toPartSchema(kind: Kind, fields: readonly FieldColumn[]): Schema {
  const columns = fields.map(({ name, form, required }) => ({ name, type: FORMS[form].type, required }));
  return { name: `part of ${kind}`, kind, fields, columns };
}

/** The columns of a kind with these names, and more. */
export function pickColumns(kind: Kind, names: string, more: readonly FieldColumn[] = []): Schema {
  const wanted = new Set(names.trim().split(/\s+/));
  return toPartSchema(kind, [...FIELD_COLUMNS[kind].filter(({ name }) => wanted.has(name)), ...more]);
}

/** The table of a kind. Throws USAGE if the other program has no such table. */
export function toSchema(
  kind: Kind,
  { bytes = false, peer, text = false, also }: SchemaOptions = {},
): Schema {
  const fields = fieldsOf({ kind, peer, text });
  const columns = fields.map(({ name, form, required }) => ({
    name,
    type: bytes && form === 'hex' ? ('BYTEA' as const) : FORMS[form].type,
    required,
  }));
  const form = `${bytes ? '+bytes' : ''}${peer !== undefined && text ? '+text' : ''}`;
  if (peer !== undefined) return { name: `${peer}-${kind}-1${form}`, kind, peer, text, columns };
  return {
    name: `${kind}-${SCHEMA_VERSIONS[kind]}${form}`,
    kind,
    columns: [...columns, { name: 'extra', type: 'JSON' }],
    ...(also && { also }),
  };
}

/** The columns of a table but `extra`, with the members of the record; then what is read along. */
export function fieldsOf({
  kind,
  peer,
  text,
  fields: part,
  also = [],
}: Pick<Schema, 'kind' | 'peer' | 'text' | 'fields' | 'also'>): readonly FieldColumn[] {
  const own = part ?? (peer === undefined ? FIELD_COLUMNS[kind] : PEER_COLUMNS[peer][kind]);
  if (own === undefined) {
    throw new PackhouseError({
      code: 'USAGE',
      message: `${peer} has no table of ${kind}.`,
      hint: 'Pull another kind, or leave out --schema.',
    });
  }
  const isText = peer !== undefined && text === true;
  const fields = own.map((field) =>
    isText && field.form === 'DECIMAL(38,0)' ? { ...field, form: 'decimal text' as Form } : field,
  );
  return [...fields, ...also];
}

/** Whether a table has a column of what no other column has. */
export function hasExtra(schema: Schema): boolean {
  return hasAll(schema) || schema.keeps === true;
}

/** Whether members that no column has are in `extra`. */
export function hasAll({ peer, fields }: Schema): boolean {
  return peer === undefined && fields === undefined;
}

/** Whether a table has columns of the receipts of its transactions. */
export function hasReceiptColumns(schema: Schema): boolean {
  return fieldsOf(schema).some(({ field }) => field.startsWith('receipt.'));
}

/** Whether a table has the time of the block in rows whose records may lack it. */
export function hasTimeColumn(schema: Schema): boolean {
  return fieldsOf(schema).some(({ field }) => field === '@time');
}

/** Rows, with the block of each. */
export interface BlockRows extends CodedBatch {
  blocks: readonly number[];
}

/** What of a row is not in its record. */
interface Beside {
  block: number;
  chainId: number;
  /** Seconds since 1970; null: not known. */
  time: number | null;
  /** Whether a trace, or one that it is in, failed. */
  failed: boolean;
}

/** Collects rows. */
interface RowCollector {
  readonly rows: number;
  /** Throws RECORD_INVALID if a column that every row has is missing. */
  add(record: JsonRecord, beside: Beside): void;
  /** The rows since the last time. */
  take(): BlockRows;
}

/** Members of an object that columns have, each with those of the object within, if it is one. */
type Known = Map<string, Known | null>;

/** Creates a collector of the rows of a table. What no column has, or cannot hold, is in `extra`, if it has that. */
export function createRowCollector(schema: Schema): RowCollector {
  const { kind } = schema;
  const withExtra = hasExtra(schema);
  const withAll = hasAll(schema);
  const fields = fieldsOf(schema).map((column) => ({
    ...column,
    read: FORMS[column.form].read,
    get: compileField(column.field),
  }));
  // What is the same for a whole block, and is checked against it.
  const known: Known = new Map(['chainId', 'blockTimestamp'].map((name) => [name, null]));
  for (const { field } of fields) for (const path of field.split('|')) addKnown(known, path);
  // Of the row before: what is of a block or a transaction is the same in many rows.
  const lastRaws = new Array<unknown>(fields.length).fill(undefined);
  const lastValues: Column = new Array<null>(fields.length).fill(null);
  const fresh = (): Column[] => Array.from({ length: fields.length + 1 }, () => []);
  let columns = fresh();
  let blocks: number[] = [];
  return {
    get rows() {
      return blocks.length;
    },
    add(record, beside) {
      let extra = withAll ? getExtra(record, known) : null;
      const keep = (name: string, value: unknown): void => {
        extra ??= {};
        extra[name] = value;
      };
      if (record.chainId != null && toBigint(record.chainId) !== beside.chainId) {
        keep('chainId', record.chainId);
      }
      for (let at = 0; at < fields.length; at += 1) {
        const { get, read, required, field, form } = fields[at] as (typeof fields)[number];
        const raw = get(record, beside);
        const isSame = raw === lastRaws[at];
        const value = raw == null ? null : isSame ? (lastValues[at] as Column[number]) : read(raw);
        if (!isSame) {
          lastRaws[at] = raw;
          lastValues[at] = value;
        }
        if (value === null && required) throw missing(kind, field, record);
        // A value that its column cannot hold is not lost.
        if (value === null && raw != null && form !== 'decimal text') {
          if (!withExtra && form !== 'DECIMAL(38,0)') throw missing(kind, field, record);
          keep(field, raw);
        }
        (columns[at] as Column).push(value);
      }
      if (withExtra) (columns[fields.length] as Column).push(extra === null ? null : JSON.stringify(extra));
      blocks.push(beside.block);
    },
    take() {
      const batch: BlockRows = { rows: blocks.length, columns: {}, blocks };
      for (const [at, { name }] of fields.entries()) batch.columns[name] = columns[at] as Column;
      if (withExtra) batch.columns.extra = columns[fields.length] as Column;
      columns = fresh();
      blocks = [];
      return batch;
    },
  };
}

type Getter = (record: JsonRecord, beside: Beside) => unknown;

/** How the member of a column is found. */
function compileField(field: string): Getter {
  const [first, ...others] = field.split('|').map(compilePath) as [Getter, ...Getter[]];
  if (others.length === 0) return first;
  return (record, beside) => {
    let value = first(record, beside);
    for (let at = 0; value == null && at < others.length; at += 1) {
      value = (others[at] as Getter)(record, beside);
    }
    return value;
  };
}

function compilePath(path: string): Getter {
  if (path === '@time') return (_, { time }) => time;
  if (path === '@chain') return (_, { chainId }) => chainId;
  if (path === '@status') return (_, { failed }) => (failed ? 0 : 1);
  if (path === '@id') return toTraceId;
  const { outer, key } = getParts(path);
  // Added to the rows: see withReceipts.
  if (outer === 'receipt') return () => null;
  if (outer === null) return (record) => record[key];
  return (record) => (record[outer] as JsonRecord | null | undefined)?.[key];
}

/** As ethereum-etl names traces; null: it has no name for rewards, which depends on others of the block. */
function toTraceId({ type, transactionHash, traceAddress }: JsonRecord): string | null {
  if (typeof transactionHash !== 'string') return null;
  return `${type}_${transactionHash}_${(traceAddress as unknown[]).join('_')}`;
}

function getParts(path: string): { outer: string | null; key: string } {
  const [, list, index] = /^(\w+)\[(\d)\]$/.exec(path) ?? [];
  if (list !== undefined) return { outer: list, key: index as string };
  const [first = '', second] = path.split('.');
  return second === undefined ? { outer: null, key: first } : { outer: first, key: second };
}

function addKnown(known: Known, path: string): void {
  const { outer, key } = getParts(path);
  if (path.startsWith('@') || outer === 'receipt') return;
  if (outer === null) known.set(key, null);
  else if (/^(\d|length)$/.test(key)) known.set(outer, null);
  else known.set(outer, (known.get(outer) ?? new Map()).set(key, null));
}

/** The members that are not known, or null if there are none. */
function getExtra(record: JsonRecord, known: Known): JsonRecord | null {
  let extra: JsonRecord | null = null;
  const add = (name: string, value: unknown): void => {
    extra ??= {};
    extra[name] = value;
  };
  for (const name in record) {
    const inner = known.get(name);
    if (inner === null) continue;
    const value = record[name];
    if (inner === undefined) add(name, value);
    else if (value != null) {
      const more = getExtra(value as JsonRecord, inner);
      if (more !== null) add(name, more);
    }
  }
  return extra;
}

function missing(kind: Kind, field: string, record: JsonRecord): PackhouseError {
  return new PackhouseError({
    code: 'RECORD_INVALID',
    message: `A record of ${kind} has no ${field} that a table can hold: ${JSON.stringify(record).slice(0, 200)}.`,
    hint: 'Check the file with packhouse verify.',
  });
}
