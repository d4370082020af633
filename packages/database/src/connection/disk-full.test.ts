import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isPackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

const run = promisify(execFile);
let open: OpenDatabase;
let folder: string;
let admin: pg.Client;
beforeAll(async () => {
  open = await openDatabase();
  folder = await mkdtemp(path.join(os.tmpdir(), 'packhouse-small-disk-'));
  admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await rm(folder, { recursive: true });
});

it('says that the disk is full, keeps what was there, and goes on when there is space (needs root and mount)', async (context) => {
  // A disk of 40 MB needs a server on this machine, and root.
  const { rows } = await admin.query(
    "SELECT pg_backend_pid() AS pid, current_setting('data_directory') AS folder",
  );
  const owner = await stat(rows[0].folder).catch(() => null);
  const mounted =
    owner !== null &&
    (await run('mount', ['-t', 'tmpfs', '-o', `size=40m,uid=${owner.uid},mode=0700`, 'none', folder]).then(
      () => true,
      () => false,
    ));
  if (!mounted) {
    await open.close();
    return context.skip('this machine lets nobody mount');
  }
  const space = `small_${path.basename(folder).replace(/\W/g, '_').toLowerCase()}`;
  try {
    await admin.query(`CREATE TABLESPACE ${space} LOCATION '${folder}'`);
    const name = new URL(open.url).pathname.slice(1);
    await open.sql(`ALTER DATABASE ${name} SET default_tablespace = ${space}`);
    const filling = open.another();
    const body = Buffer.alloc(1_000_000, 'x');
    const bulky = (number: number) => {
      const request = makeRun(number, number);
      for (const { fragments } of request.kinds) for (const fragment of fragments) fragment.body = body;
      return request;
    };
    let staged = 0;
    let failed: unknown;
    while (failed === undefined && staged < 20) {
      try {
        await filling.network('main').staging.stage(bulky(staged));
        staged += 1;
      } catch (error) {
        failed = error;
      }
    }
    expect(isPackhouseError(failed, 'DISK_FULL')).toBe(true);
    expect(staged).toBeGreaterThan(0);
    expect(await filling.network('main').staging.blocks({ firstBlock: 0, lastBlock: 99 })).toHaveLength(
      staged,
    );
    await run('mount', ['-o', 'remount,size=80m', folder]);
    expect(await filling.network('main').staging.stage(bulky(staged))).toEqual({ staged: true });
  } finally {
    await open.close();
    await admin.query(`DROP TABLESPACE IF EXISTS ${space}`);
    await run('umount', [folder]);
  }
});
