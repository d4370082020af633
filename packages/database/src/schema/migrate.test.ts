import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freshDatabase } from '@packhouse/local';
import { createLogger } from '@packhouse/runtime';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDatabase } from '../create-database.js';
import { silentContext } from '../testing/open-database.js';
import { migrate } from './migrate.js';
import { MIGRATIONS_FOLDER, migrationNames } from './migrations.js';

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

describe('a schema that a newer version wrote', () => {
  it('serves this version too where it only added something', async () => {
    await writeFile(path.join(folder, '9999_future.sql'), 'CREATE TABLE packhouse.future (id int4);');
    await migrate({ connectionString: fresh.url, folder });
    await checkSchema();
    expect(await migrate({ connectionString: fresh.url })).toEqual([]);
  });

  it('is refused in one sentence where a migration is declared breaking', async () => {
    await writeFile(
      path.join(folder, '9999_future.sql'),
      "INSERT INTO packhouse.compatibility (migration, minimum) VALUES ('9999_future', 9999);",
    );
    await migrate({ connectionString: fresh.url, folder });
    const version = Number.parseInt((await migrationNames()).at(-1) as string, 10);
    const newer = {
      code: 'DATABASE_NEWER',
      message: `The database schema was changed by 9999_future so that programs need schema version 9999, and this one has ${version}.`,
    };
    await expect(migrate({ connectionString: fresh.url })).rejects.toMatchObject(newer);
    await expect(checkSchema()).rejects.toMatchObject(newer);
    await rows('UPDATE packhouse.compatibility SET minimum = 1');
    await checkSchema();
  });

  it('is refused where it also lacks what this version brings', async () => {
    await writeFile(path.join(folder, '9999_future.sql'), 'CREATE TABLE packhouse.future (id int4);');
    await migrate({ connectionString: fresh.url, folder });
    await rows("DELETE FROM packhouse.migration WHERE name = '0001_initial'");
    const other = {
      code: 'DATABASE_NEWER',
      message: expect.stringContaining(
        'it has 9999_future, which this one does not know, and lacks 0001_initial',
      ),
    };
    await expect(migrate({ connectionString: fresh.url })).rejects.toMatchObject(other);
    await expect(checkSchema()).rejects.toMatchObject(other);
  });
});

describe('a migration that needs a lock which a long transaction holds', () => {
  const ALTER = 'ALTER TABLE packhouse.network ADD COLUMN colour text;';

  it('steps back so that everybody else goes on, and is applied when the lock is free', async () => {
    await migrate({ connectionString: fresh.url });
    await writeFile(path.join(folder, '9999_alter.sql'), ALTER);
    const holder = new pg.Client({ connectionString: fresh.url });
    await holder.connect();
    await holder.query('BEGIN; SELECT FROM packhouse.network');
    const stepsBack: string[] = [];
    const logger = createLogger({ name: 'test', destination: { write: (line) => stepsBack.push(line) } });
    const migrating = migrate({ connectionString: fresh.url, folder, logger });
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'packhouse migrate' AND wait_event_type = 'Lock'`;
    await expect.poll(() => rows(waiting), { timeout: 120_000, interval: 10 }).toHaveLength(1);
    // Queued behind the migration, which would wait until the transaction ends.
    await rows('SELECT FROM packhouse.network');
    await expect.poll(() => stepsBack.length, { timeout: 120_000 }).toBeGreaterThan(0);
    await rows('SELECT FROM packhouse.network');
    await holder.query('COMMIT');
    await holder.end();
    expect(await migrating).toEqual(['9999_alter']);
    await rows('SELECT colour FROM packhouse.network');
  });

  it('gives up in the end, in one sentence', async () => {
    await migrate({ connectionString: fresh.url });
    await writeFile(path.join(folder, '9999_alter.sql'), ALTER);
    const holder = new pg.Client({ connectionString: fresh.url });
    await holder.connect();
    await holder.query('BEGIN; SELECT FROM packhouse.network');
    await expect(migrate({ connectionString: fresh.url, folder, tryForMs: 0 })).rejects.toMatchObject({
      code: 'DATABASE_BUSY',
      retryable: true,
      message: expect.stringContaining('other transactions hold a lock that a migration needs'),
    });
    await holder.end();
    expect(await rows("SELECT name FROM packhouse.migration WHERE name = '9999_alter'")).toEqual([]);
  });
});

it('loses nothing of what running programs write meanwhile', async () => {
  await migrate({ connectionString: fresh.url });
  await writeFile(path.join(folder, '9999_more.sql'), 'ALTER TABLE packhouse.bundle ADD COLUMN more int4;');
  await rows("INSERT INTO packhouse.network (name, chain_id) VALUES ('main', 1)");
  const writer = new pg.Client({ connectionString: fresh.url });
  await writer.connect();
  let written = 0;
  let migrated = false;
  const writing = (async () => {
    for (let after = 0; after < 20; ) {
      await writer.query(
        `INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
           format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
         VALUES (1, 0, $1::int8, $1::int8, 10, 20, 0, 1, '\\x00', '\\x00', '\\x00', '\\x00', 'key-' || $1::int8, '\\x')`,
        [written],
      );
      written += 1;
      if (migrated) after += 1;
    }
  })();
  writing.catch(() => undefined);
  try {
    await expect.poll(() => written, { timeout: 120_000 }).toBeGreaterThan(20);
    const outcomes = await Promise.all([1, 2].map(() => migrate({ connectionString: fresh.url, folder })));
    expect(outcomes.filter((applied) => applied.length > 0)).toEqual([['9999_more']]);
    migrated = true;
    await writing;
    expect(await rows('SELECT count(*)::int4 AS bundles FROM packhouse.bundle')).toEqual([
      { bundles: written },
    ]);
    expect(await rows('SELECT bundles::int4 FROM packhouse.published')).toEqual([{ bundles: written }]);
    expect(await rows('SELECT first_block::int4, last_block::int4 FROM packhouse.published_run')).toEqual([
      { first_block: 0, last_block: written - 1 },
    ]);
    await checkSchema();
  } finally {
    migrated = true;
    await writing.catch(() => undefined);
    await writer.end();
  }
});

it('refuses the schema of a build before the first release', async () => {
  await rows('CREATE SCHEMA packhouse');
  await rows('CREATE TABLE packhouse.wanted_range ()');
  const older = { code: 'DATABASE_OLDER', hint: expect.stringContaining('an empty database') };
  await expect(checkSchema()).rejects.toMatchObject(older);
  await expect(migrate({ connectionString: fresh.url })).rejects.toMatchObject(older);
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
