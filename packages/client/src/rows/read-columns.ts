import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Column, RowBatch, Schema } from './schema.js';
import { FIELD_COLUMNS, type Form, getType, NO_BYTES, SCHEMA_VERSIONS } from './schemas.js';

/** A record of a bundle. */
export type JsonRecord = Record<string, unknown>;

/** The table of a kind; `bytes`: addresses, hashes, topics and data are bytes and not text. */
export function toSchema(kind: Kind, { bytes = false }: { bytes?: boolean } = {}): Schema {
  const columns = FIELD_COLUMNS[kind].map(({ name, form, required }) => ({
    name,
    type: bytes && form === 'TEXT' && !NO_BYTES.has(name) ? ('BYTEA' as const) : getType(form),
    required,
  }));
  return {
    name: `${kind}-${SCHEMA_VERSIONS[kind]}${bytes ? '+bytes' : ''}`,
    kind,
    columns: [...columns, { name: 'extra', type: 'JSON' }],
  };
}

/** Collects rows. */
interface RowCollector {
  readonly rows: number;
  /** Throws RECORD_INVALID if a column that every row has is missing. */
  add(record: JsonRecord): void;
  /** The rows since the last time. */
  take(): RowBatch;
}

/** Members of an object that columns have, each with those of the object within, if it is one. */
type Known = Map<string, Known | null>;

/** Creates a collector of the rows of a kind. What no column has, or cannot hold, is in `extra`. */
export function createRowCollector(kind: Kind): RowCollector {
  const fields = FIELD_COLUMNS[kind].map((column) => {
    const { outer, key } = getParts(column.field);
    return { ...column, outer, key, read: READERS[column.form] };
  });
  const known: Known = new Map();
  for (const { outer, key } of fields) {
    if (outer === null) known.set(key as string, null);
    else if (typeof key === 'number' || key === 'length') known.set(outer, null);
    else known.set(outer, (known.get(outer) ?? new Map()).set(key, null));
  }
  const fresh = (): Column[] => Array.from({ length: fields.length + 1 }, () => []);
  let columns = fresh();
  let rows = 0;
  return {
    get rows() {
      return rows;
    },
    add(record) {
      let extra = getExtra(record, known);
      for (let at = 0; at < fields.length; at += 1) {
        const { outer, key, read, required, field, form } = fields[at] as (typeof fields)[number];
        const holder = outer === null ? record : (record[outer] as JsonRecord | null | undefined);
        const raw = holder?.[key as string];
        const value = raw == null ? null : read(raw);
        if (value === null && required) throw missing(kind, field, record);
        // A value that its column cannot hold is not lost.
        if (value === null && raw != null && form !== 'decimal text') {
          extra ??= {};
          extra[field] = raw;
        }
        (columns[at] as Column).push(value);
      }
      (columns[fields.length] as Column).push(extra === null ? null : JSON.stringify(extra));
      rows += 1;
    },
    take() {
      const batch: RowBatch = { rows, columns: {} };
      for (const [at, { name }] of fields.entries()) batch.columns[name] = columns[at] as Column;
      batch.columns.extra = columns[fields.length] as Column;
      columns = fresh();
      rows = 0;
      return batch;
    },
  };
}

function getParts(field: string): { outer: string | null; key: string | number } {
  const [, list, index] = /^(\w+)\[(\d)\]$/.exec(field) ?? [];
  if (list !== undefined) return { outer: list, key: Number(index) };
  const [first = '', second] = field.split('.');
  return second === undefined ? { outer: null, key: first } : { outer: first, key: second };
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

const MAX_INTEGER = 2 ** 31 - 1;
const MAX_BIGINT = 2n ** 63n - 1n;
const MAX_DECIMAL = 10n ** 38n - 1n;
/** The end of the year 9999. */
const MAX_SECONDS = 253_402_300_799;

/** What a value of JSON is in a column; null if it has another form, or the column cannot hold it. */
const READERS: Readonly<Record<Form, (raw: unknown) => Column[number]>> = {
  BIGINT: toBigint,
  INTEGER: (raw) => numberUpTo(raw, MAX_INTEGER),
  TIMESTAMP: (raw) => numberUpTo(raw, MAX_SECONDS),
  'DECIMAL(38,0)'(raw) {
    const value = toQuantity(raw);
    return value === null || value > MAX_DECIMAL ? null : value;
  },
  'decimal text': (raw) => toQuantity(raw)?.toString() ?? null,
  TEXT: (raw) => (typeof raw === 'string' ? raw : null),
  BOOLEAN: (raw) => (typeof raw === 'boolean' ? raw : null),
  JSON: (raw) => JSON.stringify(raw),
};

const QUANTITY = /^0x[0-9a-f]+$/;

function toQuantity(raw: unknown): bigint | null {
  return typeof raw === 'string' && QUANTITY.test(raw) ? BigInt(raw) : null;
}

/** Of hex, or of a number, as traces have them. */
function toBigint(raw: unknown): number | bigint | null {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : null;
  // 13 digits of hex are below 2^53.
  if (typeof raw === 'string' && raw.length <= 15 && QUANTITY.test(raw)) return Number(raw);
  const value = toQuantity(raw);
  return value === null || value > MAX_BIGINT ? null : value;
}

function numberUpTo(raw: unknown, max: number): number | null {
  const value = toBigint(raw);
  return typeof value === 'number' && value <= max ? value : null;
}

function missing(kind: Kind, field: string, record: JsonRecord): PackhouseError {
  return new PackhouseError({
    code: 'RECORD_INVALID',
    message: `A record of ${kind} has no ${field} that a table can hold: ${JSON.stringify(record).slice(0, 200)}.`,
    hint: 'Check the file with packhouse verify.',
  });
}
