import type { Form } from './field-column.js';
import type { Column, ColumnType } from './schema.js';

const MAX_INTEGER = 2 ** 31 - 1;
const MAX_BIGINT = 2n ** 63n - 1n;
/** What DECIMAL(38,0) holds. */
export const MAX_DECIMAL = 10n ** 38n - 1n;
/** The end of the year 9999. */
const MAX_SECONDS = 253_402_300_799;

/** The type of a column of each form, and what a value of JSON is in it; null if it has another form, or the column cannot hold it. */
export const FORMS: Readonly<Record<Form, { type: ColumnType; read(raw: unknown): Column[number] }>> = {
  BIGINT: { type: 'BIGINT', read: (raw) => toBigint(raw, MAX_BIGINT) },
  INTEGER: { type: 'INTEGER', read: (raw) => numberUpTo(raw, MAX_INTEGER) },
  UBIGINT: { type: 'UBIGINT', read: (raw) => toBigint(raw, 2n ** 64n - 1n) },
  UINTEGER: { type: 'UINTEGER', read: (raw) => numberUpTo(raw, 2 ** 32 - 1) },
  TIMESTAMP: { type: 'TIMESTAMP', read: (raw) => numberUpTo(raw, MAX_SECONDS) },
  'DECIMAL(38,0)': {
    type: 'DECIMAL(38,0)',
    read(raw) {
      const value = toQuantity(raw);
      return value === null || value > MAX_DECIMAL ? null : value;
    },
  },
  DOUBLE: {
    type: 'DOUBLE',
    read: (raw) => (typeof raw === 'string' && QUANTITY.test(raw) ? Number(raw) : null),
  },
  'decimal text': { type: 'TEXT', read: (raw) => toQuantity(raw)?.toString() ?? null },
  word: {
    type: 'BYTEA',
    read: (raw) =>
      typeof raw === 'string' && QUANTITY.test(raw) ? `0x${raw.slice(2).padStart(64, '0')}` : null,
  },
  hex: { type: 'TEXT', read: toText },
  TEXT: { type: 'TEXT', read: toText },
  BOOLEAN: { type: 'BOOLEAN', read: (raw) => (typeof raw === 'boolean' ? raw : null) },
  flag: { type: 'BOOLEAN', read: (raw) => raw === '0x1' },
  JSON: { type: 'JSON', read: (raw) => JSON.stringify(raw) },
  'joined by _': { type: 'TEXT', read: (raw) => joined(raw, '_') },
  'joined by ,': { type: 'TEXT', read: (raw) => joined(raw, ',') },
  'byte count': { type: 'UINTEGER', read: (raw) => toBytesOf(raw)?.length ?? null },
  'zero bytes': { type: 'UINTEGER', read: (raw) => countBytes(raw, true) },
  'other bytes': { type: 'UINTEGER', read: (raw) => countBytes(raw, false) },
  'cryo call type': {
    type: 'TEXT',
    read: (raw) =>
      toText(raw)
        ?.replace(/^(delegate|static)call$/, '$1_call')
        .replace('callcode', 'call_code') ?? null,
  },
  'cryo reward type': { type: 'TEXT', read: (raw) => (raw === 'block' ? 'reward' : toText(raw)) },
};

const QUANTITY = /^0x[0-9a-f]+$/;

function toText(raw: unknown): string | null {
  return typeof raw === 'string' ? raw : null;
}

function toQuantity(raw: unknown): bigint | null {
  return typeof raw === 'string' && QUANTITY.test(raw) ? BigInt(raw) : null;
}

/** Of hex, or of a number, as traces have them. */
export function toBigint(raw: unknown, max: bigint = MAX_BIGINT): number | bigint | null {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : null;
  // 13 digits of hex are below 2^53.
  if (typeof raw === 'string' && raw.length <= 15 && QUANTITY.test(raw)) return Number(raw);
  const value = toQuantity(raw);
  return value === null || value > max ? null : value;
}

function numberUpTo(raw: unknown, max: number): number | null {
  const value = toBigint(raw);
  return typeof value === 'number' && value <= max ? value : null;
}

function joined(raw: unknown, between: string): string | null {
  return Array.isArray(raw) ? raw.join(between) : null;
}

function toBytesOf(raw: unknown): Buffer | null {
  return typeof raw === 'string' && raw.startsWith('0x') ? Buffer.from(raw.slice(2), 'hex') : null;
}

function countBytes(raw: unknown, zero: boolean): number | null {
  const bytes = toBytesOf(raw);
  if (bytes === null) return null;
  let zeros = 0;
  for (const byte of bytes) if (byte === 0) zeros += 1;
  return zero ? zeros : bytes.length - zeros;
}
