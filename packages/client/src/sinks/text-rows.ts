import type { Column, ColumnType, RowBatch, Schema } from '@packhouse/rows';

/** Writes rows as text. */
export interface TextFormat {
  extension: 'csv' | 'jsonl';
  /** What a file begins with. */
  head(schema: Schema): string;
  rows(schema: Schema, batch: RowBatch): string;
}

/**
 * One JSON object a line. DECIMAL(38,0) is a string, since most readers take numbers for floats; TIMESTAMP is ISO 8601 in
 * UTC; `extra` and other JSON columns are JSON, not text.
 */
export const JSONL: TextFormat = {
  extension: 'jsonl',
  head: () => '',
  rows: (schema, batch) =>
    toLines(schema, batch, {
      before: (name, at) => `${at === 0 ? '{' : ','}"${name}":`,
      texts: JSON_TEXT,
      none: 'null',
      end: '}\n',
    }),
};

/**
 * RFC 4180 with a line of names and lines that end in LF. Nothing between commas is null, `""` is an empty text;
 * TIMESTAMP is `2023-07-13 17:37:07` in UTC.
 */
export const CSV: TextFormat = {
  extension: 'csv',
  head: ({ columns }) => `${columns.map(({ name }) => name).join(',')}\n`,
  rows: (schema, batch) =>
    toLines(schema, batch, {
      before: (_, at) => (at === 0 ? '' : ','),
      texts: CSV_TEXT,
      none: '',
      end: '\n',
    }),
};

/** The text of a value. */
type Text = (value: NonNullable<Column[number]>) => string;

/** How rows are written as lines. */
interface LineForm {
  /** What is before the value of a column. */
  before(name: string, at: number): string;
  texts: Readonly<Record<ColumnType, Text>>;
  /** In place of null. */
  none: string;
  end: string;
}

/** Writes rows as lines. */
function toLines(schema: Schema, { rows, columns }: RowBatch, form: LineForm): string {
  const parts = schema.columns.map(({ name, type }, at) => ({
    before: form.before(name, at),
    column: columns[name] as Column,
    text: form.texts[type],
  }));
  let lines = '';
  for (let row = 0; row < rows; row += 1) {
    for (const { before, column, text } of parts) {
      const value = column[row] as Column[number];
      lines += before + (value === null ? form.none : text(value));
    }
    lines += form.end;
  }
  return lines;
}

/** Whether a text is a JSON string as it is, in quotes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/**
 * A number that nobody takes for an integer: with digits alone, polars and DuckDB have the column's first rows decide that
 * it has integers, and fail at one that is larger; pandas fails at 2^64. More digits than a double has before a point are
 * read as other numbers by pandas.
 */
function doubleText(value: NonNullable<Column[number]>): string {
  const number = value as number;
  if (!Number.isInteger(number)) return String(number);
  return Number.isSafeInteger(number) ? `${number}.0` : number.toExponential();
}

const jsonString: Text = (value) => (PLAIN.test(value as string) ? `"${value}"` : JSON.stringify(value));

const JSON_TEXT: Readonly<Record<ColumnType, Text>> = {
  BIGINT: String,
  INTEGER: String,
  UBIGINT: String,
  UINTEGER: String,
  DOUBLE: doubleText,
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
  UBIGINT: String,
  UINTEGER: String,
  DOUBLE: doubleText,
  BOOLEAN: String,
  'DECIMAL(38,0)': String,
  TEXT: csvText,
  BYTEA: csvText,
  JSON: csvText,
  TIMESTAMP: (seconds) => isoTime(seconds as number).replace('T', ' '),
};

/** A time in UTC, without its zone. */
function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 19);
}
