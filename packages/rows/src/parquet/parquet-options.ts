import type { CodedBatch } from '../records/coded-column.js';
import type { Schema } from '../records/schema.js';

/** The name and columns of a schema. */
export type Table = Pick<Schema, 'name' | 'columns'>;

/** What is known of the values of a column, as decimal text; null: nothing, or they are no numbers. */
export interface ColumnTotals {
  name: string;
  min: string | null;
  max: string | null;
  nulls: number;
}

/** A Parquet file that is being written. */
export interface ParquetFile {
  write(batch: CodedBatch): Promise<void>;
  /** Ends the row group, if it has rows; it ends by itself at a size. Readers skip what has no rows of theirs. */
  endGroup(): void;
  /** Ends the file; it is on the disk when this returns. Times are in microseconds since 1970. */
  finish(): Promise<{ rows: number; columns: ColumnTotals[] }>;
}

/** How a file is made. */
export interface ParquetOptions {
  schema: Table;
  /** Name of the network, for readers. */
  network: string;
  /** Of each column, by which readers of Iceberg find it; absent: it has none. */
  fieldIds?: ReadonlyMap<string, number>;
}
