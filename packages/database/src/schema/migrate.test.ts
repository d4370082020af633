import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freshDatabase } from '@packhouse/local';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase } from '../create-database.js';
import { silentContext } from '../testing/open-database.js';
import { migrate } from './migrate.js';
import { MIGRATIONS_FOLDER, migrationNames } from './migration-files.js';

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let folder: string;
beforeEach(async () => {
  fresh = await freshDatabase(inject('postgresUrl'));
  folder = await mkdtemp(path.join(os.tmpdir(), 'packhouse-migrations-'));
  for (const file of await readdir(MIGRATIONS_FOLDER)) {
    await copyFile(path.join(MIGRATIONS_FOLDER, file), path.join(folder, file));
  }
});
afterEach(async () => {
  await fresh.drop();
  await rm(folder, { recursive: true });
});

async function rows(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: fresh.url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const checkSchema = async () => {
  const database = createDatabase({
    connectionString: fresh.url,
    context: silentContext(),
    applicationName: 'packhouse test',
  });
  try {
    await database.checkSchema();
  } finally {
    await database.close();
  }
};

it('applies each migration once though ten processes migrate at the same time', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, () => migrate({ connectionString: fresh.url })),
  );
  const names = await migrationNames();
  expect(outcomes.filter((applied) => applied.length > 0)).toEqual([names]);
  expect(await rows('SELECT name FROM packhouse.migration ORDER BY id')).toEqual(
    names.map((name) => ({ name })),
  );
  await checkSchema();
});

it('keeps what went well when a later migration fails, and nothing of the one that failed', async () => {
  await writeFile(path.join(folder, '9998_good.sql'), 'CREATE TABLE packhouse.good (id int4);');
  await writeFile(path.join(folder, '9999_bad.sql'), 'CREATE TABLE packhouse.half (id int4); SELECT 1 / 0;');
  await expect(migrate({ connectionString: fresh.url, folder })).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringContaining('division by zero'),
  });
  expect(
    await rows(
      "SELECT to_regclass('packhouse.good')::text AS good, to_regclass('packhouse.half')::text AS half",
    ),
  ).toEqual([{ good: 'packhouse.good', half: null }]);
  await writeFile(path.join(folder, '9999_bad.sql'), 'CREATE TABLE packhouse.half (id int4);');
  expect(await migrate({ connectionString: fresh.url, folder })).toEqual(['9999_bad']);
});

it('refuses a schema that a newer version wrote', async () => {
  await writeFile(path.join(folder, '9999_future.sql'), 'CREATE TABLE packhouse.future (id int4);');
  await migrate({ connectionString: fresh.url, folder });
  const newer = { code: 'DATABASE_NEWER', message: expect.stringContaining('9999_future') };
  await expect(migrate({ connectionString: fresh.url })).rejects.toMatchObject(newer);
  await expect(checkSchema()).rejects.toMatchObject(newer);
});

it('says what to do about a schema that is not there or too old', async () => {
  const older = { code: 'DATABASE_NOT_MIGRATED', hint: 'Run `packhouse migrate`.' };
  await expect(checkSchema()).rejects.toMatchObject(older);
  await migrate({ connectionString: fresh.url });
  await rows('DELETE FROM packhouse.migration');
  await expect(checkSchema()).rejects.toMatchObject(older);
});

it('works for a role that owns a schema made for it and may make none', async () => {
  const name = new URL(fresh.url).pathname.slice(1);
  await rows(`CREATE ROLE role_of_${name} LOGIN PASSWORD 'narrow'`);
  try {
    await rows(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
    await rows(`GRANT CONNECT ON DATABASE ${name} TO role_of_${name}`);
    await rows(`CREATE SCHEMA packhouse AUTHORIZATION role_of_${name}`);
    const url = new URL(fresh.url);
    url.username = `role_of_${name}`;
    url.password = 'narrow';
    expect(await migrate({ connectionString: url.href })).toEqual(await migrationNames());
  } finally {
    await rows(`DROP OWNED BY role_of_${name}`);
    await rows(`DROP ROLE role_of_${name}`);
  }
});
