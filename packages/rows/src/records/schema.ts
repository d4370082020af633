import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { FieldColumn } from './field-column.js';

/** Programs whose columns and files a table can have. */
export const PEERS = ['cryo', 'ethereum-etl'] as const;

export type Peer = (typeof PEERS)[number];

/** SQL types of columns, as DuckDB has them; Postgres has no unsigned ones. */
export type ColumnType =
  | 'BIGINT'
  | 'INTEGER'
  | 'UBIGINT'
  | 'UINTEGER'
  | 'DOUBLE'
  | 'DECIMAL(38,0)'
  | 'TEXT'
  | 'BYTEA'
  | 'BOOLEAN'
  | 'TIMESTAMP'
  | 'JSON';

/**
 * Values of one column; null: there is none. Integers are numbers (bigint above 2^53), DECIMAL(38,0) is a bigint, TIMESTAMP the seconds since 1970 in UTC, JSON its text, BYTEA lower-case 0x text (see `bytesOf`).
 */
export type Column = (string | number | bigint | boolean | null)[];

/** Rows of one kind in block order, column by column. */
export interface RowBatch {
  rows: number;
  /** By the names of the schema, in its order. */
  columns: Record<string, Column>;
}

/** A column of a table. */
export interface ColumnSpec {
  name: string;
  type: ColumnType;
  /** Whether every row has a value. */
  required?: boolean;
}

/** A table of rows. Its name changes whenever a column does. */
export interface Schema {
  /** The program whose columns it has; absent: packhouse. */
  peer?: Peer | undefined;
  /** Whether numbers of any size are text. */
  text?: boolean;
  /** `<kind>-<version>`, with the names of what adds columns behind it. */
  name: string;
  kind: Kind;
  /** Its columns in the record, if they are not those of the kind. */
  fields?: readonly FieldColumn[];
  /** Of these: whether there is `extra` all the same, for the values that they cannot hold. */
  keeps?: boolean;
  /** What is read of the records along with the columns, by names of their own; no columns of the table. */
  also?: readonly FieldColumn[];
  columns: readonly ColumnSpec[];
}

/** The CREATE TABLE of a schema, for DuckDB; for another database with its names of the types. `table` is quoted by the caller. */
export function createTable(
  table: string,
  { columns }: Schema,
  types?: Readonly<Record<ColumnType, string>>,
): string {
  const lines = columns.map(
    ({ name, type, required }) => `  ${quoted(name)} ${types?.[type] ?? type}${required ? ' NOT NULL' : ''}`,
  );
  return `CREATE TABLE ${table} (\n${lines.join(',\n')}\n)`;
}

/** A name of SQL, in quotes if it needs them: those of arguments are anybody's. */
export function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The bytes of a value of a BYTEA column. Throws RECORD_INVALID. */
export function toBytes(value: Column[number]): Buffer {
  const text = String(value);
  if (/^0x(?:[0-9a-f]{2})*$/.test(text)) return Buffer.from(text.slice(2), 'hex');
  throw new PackhouseError({
    code: 'RECORD_INVALID',
    message: `A record has "${text.slice(0, 80)}" in the place of bytes in hex.`,
    hint: 'Pull it as text, without --bytes blob.',
  });
}
