import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { freshDatabase } from './fresh-database.js';

const admin = inject('postgresUrl');

async function rows(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

it('makes databases that share nothing, ten at once', async () => {
  const databases = await Promise.all(
    Array.from({ length: 10 }, () => freshDatabase(admin, { migrated: true })),
  );
  try {
    expect(new Set(databases.map((database) => database.url)).size).toBe(10);
    await rows(databases[0]!.url, "INSERT INTO packhouse.network (name, chain_id) VALUES ('a', 1)");
    expect(await rows(databases[0]!.url, 'SELECT name FROM packhouse.network')).toEqual([{ name: 'a' }]);
    expect(await rows(databases[1]!.url, 'SELECT name FROM packhouse.network')).toEqual([]);
  } finally {
    await Promise.all(databases.map((database) => database.drop()));
  }
});

it('makes an empty database unless a migrated one is asked for', async () => {
  const database = await freshDatabase(admin);
  try {
    expect(await rows(database.url, "SELECT to_regnamespace('packhouse') AS schema")).toEqual([
      { schema: null },
    ]);
  } finally {
    await database.drop();
  }
});

it('removes the database though somebody is still connected', async () => {
  const database = await freshDatabase(admin);
  const guest = new pg.Client({ connectionString: database.url });
  const ended = new Promise((resolve) => guest.on('error', resolve));
  await guest.connect();
  await database.drop();
  await ended;
  const name = new URL(database.url).pathname.slice(1);
  expect(await rows(admin, `SELECT 1 FROM pg_database WHERE datname = '${name}'`)).toEqual([]);
});
