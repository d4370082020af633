import { createDatabase, type Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { commandContext } from '../connect.js';
import { memoryIo, type Outcome, run } from './run.js';

/** `packhouse` on a database of a test file's own. */
export interface Commands {
  /** To be looked at, and filled, behind the commands' back; there from the first test on. */
  readonly database: Database;
  readonly databaseUrl: string;
  packhouse(...args: string[]): Promise<Outcome>;
  /** The outcome of a command that has to succeed. */
  done(...args: string[]): Promise<Outcome>;
  /** The one line of a command that has to fail, its exit code checked. */
  refused(code: number, ...args: string[]): Promise<string>;
}

/** Makes the database before the tests of a file (or of a `describe`) and drops it behind them. */
export function useCommands({ migrated = true } = {}): Commands {
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated });
    const context = commandContext(memoryIo().io);
    database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  const packhouse = (...args: string[]): Promise<Outcome> => run(args, { env: { DATABASE_URL: fresh.url } });
  return {
    get database() {
      return database;
    },
    get databaseUrl() {
      return fresh.url;
    },
    packhouse,
    async done(...args) {
      const outcome = await packhouse(...args);
      expect(outcome).toMatchObject({ code: 0, err: '' });
      return outcome;
    },
    async refused(code, ...args) {
      const outcome = await packhouse(...args);
      expect(outcome.err).toMatch(/^packhouse: [^\n]+\n$/);
      expect(outcome).toMatchObject({ code, out: '' });
      return outcome.err.trim();
    },
  };
}
