import { chmod, mkdtemp, readdir, readFile, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import './fresh-database.js';
import { isAlive } from '@packhouse/runtime';
import { recordedHome, removePostgres } from './postgres/home.js';
import { clearLeftover } from './postgres/leftover.js';
import { startPostgres } from './postgres/postgres.js';
import { SHIFTED_PATH, shiftClock } from './shift-clock.js';

const PREFIX = 'packhouse-test-';

/**
 * Most tests have a database of their own, of several hundred files, which a file system in memory makes and removes in
 * a tenth of the time that a disk in use takes.
 */
const MEMORY = '/dev/shm';
/** What the data of a run take and then some, in bytes: databases of all workers at once, and the log. */
const ROOM = 4e9;

/**
 * Nothing in it outlives the run, so durability would only cost time. Files that share a process leave idle connections
 * to their databases for a minute.
 */
const SETTINGS = {
  max_connections: '300',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  // What the log may hold on the disk; the default of gigabytes is for a server that keeps data.
  max_wal_size: '256MB',
};

interface TestPostgres {
  url: string;
  stop(): Promise<void>;
}

/** Of this run. Each project of it loads this module anew, so it is kept where all of them find it. */
const run = globalThis as { packhouseTestPostgres?: { users: number; started: Promise<TestPostgres> } };

/**
 * Provides `postgresUrl` to a project: TEST_DATABASE_URL, else a Postgres that is started once for the whole run, of the
 * programs in the folder TEST_POSTGRES_PROGRAMS if that is given.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') {
    project.provide('postgresUrl', given);
    return undefined;
  }
  run.packhouseTestPostgres ??= { users: 0, started: startTestPostgres() };
  const postgres = run.packhouseTestPostgres;
  postgres.users += 1;
  const { url, stop } = await postgres.started;
  project.provide('postgresUrl', url);
  return async () => {
    postgres.users -= 1;
    if (postgres.users > 0) return;
    delete run.packhouseTestPostgres;
    await stop();
  };
}

async function startTestPostgres(): Promise<TestPostgres> {
  await removeKilledRuns();
  const directory = await mkdtemp(path.join((await hasMemory()) ? MEMORY : os.tmpdir(), PREFIX));
  // Root's Postgres runs under another account.
  await chmod(directory, 0o755);
  const clock = process.env.FAKETIME_TIMESTAMP_FILE;
  const settings = clock === undefined ? SETTINGS : { ...SETTINGS, search_path: SHIFTED_PATH };
  const programs = process.env.TEST_POSTGRES_PROGRAMS || undefined;
  const postgres = await startPostgres({ directory, programs, settings });
  if (clock !== undefined) await shiftClock(postgres.url, clock);
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop();
      await removePostgres(directory);
    },
  };
}

/** Whether there is a file system in memory that has room, and memory behind it. Containers have one of 64 MB. */
async function hasMemory(): Promise<boolean> {
  if (process.platform !== 'linux' || os.freemem() < ROOM) return false;
  const mounts = (await readFile('/proc/mounts', 'utf8').catch(() => '')).split('\n');
  // Of a line: device, folder, type, options. Programs may have to be copied there.
  const found = mounts.map((line) => line.split(' ')).findLast(([, folder]) => folder === MEMORY);
  if (found?.[2] !== 'tmpfs' || found[3]?.split(',').includes('noexec') === true) return false;
  const { bavail, bsize } = await statfs(MEMORY);
  return bavail * bsize >= ROOM;
}

/** Ends the servers of killed runs and removes their folders. */
async function removeKilledRuns(): Promise<void> {
  for (const parent of [MEMORY, os.tmpdir()]) {
    const names = await readdir(parent).catch(() => []);
    for (const name of names) if (name.startsWith(PREFIX)) await removeKilledRun(path.join(parent, name));
  }
}

async function removeKilledRun(directory: string): Promise<void> {
  const data = path.join(await recordedHome(directory), 'data');
  const owner = Number(await readFile(path.join(data, 'packhouse-owner'), 'utf8').catch(() => ''));
  if (owner <= 0 || isAlive(owner)) return;
  // Another run may be removing the same folder.
  await clearLeftover(data).catch(() => {});
  await removePostgres(directory).catch(() => {});
}
