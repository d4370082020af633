import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What tests use of `@duckdb/node-api`, whose own types are there only with it. */
interface Module {
  DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection>; closeSync(): void }> };
}
interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Row[] }>;
}

/** A row by column; numbers of 64 bits and more are text. */
export type Row = Record<string, unknown>;

/** A database in memory. */
export interface DuckDb {
  rows(sql: string): Promise<Row[]>;
  close(): void;
}

const libraries = fileURLToPath(new URL('../../clients/libraries/', import.meta.url));
/** For NODE_PATH of programs that load DuckDB. */
export const duckDbModules = `${libraries}node_modules`;
const NAME = '@duckdb/node-api';

export const hasDuckDb = existsSync(`${duckDbModules}/${NAME}`);
/** For the name of a test. */
export const NEEDS_DUCKDB = '(needs test/clients/libraries)';

export async function openDuckDb(): Promise<DuckDb> {
  const { DuckDBInstance } = createRequire(libraries)(NAME) as Module;
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  return {
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson(),
    close: () => instance.closeSync(),
  };
}
