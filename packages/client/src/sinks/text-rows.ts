import type { Column, ColumnType, RowBatch, Schema } from '../rows/schema.js';

/** Writes rows as text. */
export interface TextFormat {
  extension: 'csv' | 'jsonl';
  /** What a file begins with. */
  head(schema: Schema): string;
  rows(schema: Schema, batch: RowBatch): string;
}

/**
 * One JSON object a line. DECIMAL(38,0) is a string, since most readers take numbers for floats; TIMESTAMP is ISO 8601
 * in UTC; `extra` and other JSON columns are JSON, not text.
 */
export const JSONL: TextFormat = {
  extension: 'jsonl',
  head: () => '',
  rows(schema, { rows, columns }) {
    const parts = schema.columns.map(({ name, type }, at) => ({
      key: `${at === 0 ? '{' : ','}"${name}":`,
      column: columns[name] as Column,
      text: JSON_TEXT[type],
    }));
    let lines = '';
    for (let row = 0; row < rows; row += 1) {
      for (const { key, column, text } of parts) {
        const value = column[row] as Column[number];
        lines += key + (value === null ? 'null' : text(value));
      }
      lines += '}\n';
    }
    return lines;
  },
};

/**
 * RFC 4180 with a line of names and lines that end in LF. Nothing between commas is null, `""` is an empty text;
 * TIMESTAMP is `2023-07-13 17:37:07` in UTC.
 */
export const CSV: TextFormat = {
  extension: 'csv',
  head: ({ columns }) => `${columns.map(({ name }) => name).join(',')}\n`,
  rows(schema, { rows, columns }) {
    const parts = schema.columns.map(({ name, type }) => ({
      column: columns[name] as Column,
      text: CSV_TEXT[type],
    }));
    let lines = '';
    for (let row = 0; row < rows; row += 1) {
      let comma = '';
      for (const { column, text } of parts) {
        const value = column[row] as Column[number];
        lines += value === null ? comma : comma + text(value);
        comma = ',';
      }
      lines += '\n';
    }
    return lines;
  },
};

type Text = (value: NonNullable<Column[number]>) => string;

/** Whether a text is a JSON string as it is, in quotes. */
const PLAIN = /^[ !#-[\]-~]*$/;

const jsonString: Text = (value) => (PLAIN.test(value as string) ? `"${value}"` : JSON.stringify(value));

const JSON_TEXT: Readonly<Record<ColumnType, Text>> = {
  BIGINT: String,
  INTEGER: String,
  BOOLEAN: String,
  'DECIMAL(38,0)': (value) => `"${value}"`,
  TEXT: jsonString,
  BYTEA: jsonString,
  JSON: String,
  TIMESTAMP: (seconds) => `"${isoTime(seconds as number)}Z"`,
};

function csvText(value: NonNullable<Column[number]>): string {
  const text = String(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const CSV_TEXT: Readonly<Record<ColumnType, Text>> = {
  BIGINT: String,
  INTEGER: String,
  BOOLEAN: String,
  'DECIMAL(38,0)': String,
  TEXT: csvText,
  BYTEA: csvText,
  JSON: csvText,
  TIMESTAMP: (seconds) => isoTime(seconds as number).replace('T', ' '),
};

/** A time in UTC, without its zone. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 19);
}
