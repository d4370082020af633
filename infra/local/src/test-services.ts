import { chmod, mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import './fresh-database.js';
import { startPostgres } from './postgres.js';
import { removePostgres } from './remove-postgres.js';

/** Nothing in it outlives the run: durability would only cost time. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
};

/**
 * Starts one Postgres for a whole test run and provides its address as `postgresUrl`.
 *
 * `TEST_DATABASE_URL` names one that runs already.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') {
    project.provide('postgresUrl', given);
    return undefined;
  }
  const directory = await mkdtemp(path.join(os.tmpdir(), 'packhouse-test-'));
  // Ours, so it may be opened: root's Postgres runs under another account.
  await chmod(directory, 0o755);
  const postgres = await startPostgres({ directory, settings: SETTINGS });
  project.provide('postgresUrl', postgres.url);
  return async () => {
    await postgres.stop();
    await removePostgres(directory);
  };
}
