import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, type Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import type { Context } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, inject, vi } from 'vitest';
import { commandContext } from '../installation/context.js';
import { memoryIo, type Outcome, run } from './run.js';

/** `packhouse` with a database and a folder for one test file; both exist from its first hook on. */
interface Commands {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly directory: string;
  readonly context: Context;
  /** Variables beside DATABASE_URL. */
  env: Record<string, string>;
  packhouse(...args: string[]): Promise<Outcome>;
  /** The outcome of a command that must succeed. */
  done(...args: string[]): Promise<Outcome>;
  /** The one line of a command that must fail with this exit code. */
  refused(code: number, ...args: string[]): Promise<string>;
}

/**
 * Makes the database and the folder before the tests of a file (or of a `describe`), and removes them after it. The
 * date of both this process and the database stays `now`, if that is given.
 */
export function useCommands({ migrated = true, now }: { migrated?: boolean; now?: Date } = {}): Commands {
  const context = commandContext(memoryIo().io);
  const env: Record<string, string> = {};
  let fresh: FreshDatabase;
  let database: Database;
  let directory: string;
  beforeAll(async () => {
    if (now !== undefined) vi.useFakeTimers({ toFake: ['Date'], now });
    directory = await mkdtemp(path.join(tmpdir(), 'packhouse-cli-'));
    fresh = await freshDatabase(inject('postgresUrl'), { migrated, now });
    database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
    await rm(directory, { recursive: true, force: true });
    vi.useRealTimers();
  });
  const packhouse = (...args: string[]): Promise<Outcome> =>
    run(args, { cwd: directory, env: { DATABASE_URL: fresh.url, ...env } });
  return {
    get database() {
      return database;
    },
    get databaseUrl() {
      return fresh.url;
    },
    get directory() {
      return directory;
    },
    context,
    env,
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
      return outcome.err.slice('packhouse: '.length).trim();
    },
  };
}
