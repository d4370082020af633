import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freshDatabase } from '@packhouse/local';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { dumpSchema } from '../testing/dump-schema.js';
import { migrate } from './migrate.js';
import { MIGRATIONS_FOLDER } from './migrations.js';

const HEAD = `-- What the migrations leave behind. Written by \`npm run schema -w packages/database\`; a test compares it.\n\n`;

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return HEAD + (await dumpSchema(client));
  } finally {
    await client.end();
  }
}

it('schema.sql is what the migrations leave behind (UPDATE=1 writes it)', async () => {
  const file = path.join(MIGRATIONS_FOLDER, 'schema.sql');
  const fresh = await freshDatabase(inject('postgresUrl'));
  try {
    await migrate({ connectionString: fresh.url });
    const now = await dump(fresh.url);
    if (process.env.UPDATE === '1') await writeFile(file, now);
    expect(now).toBe(await readFile(file, 'utf8'));
  } finally {
    await fresh.drop();
  }
});

it('tells the same of two databases, and notices any difference', async () => {
  const databases = await Promise.all(
    [0, 1].map(() => freshDatabase(inject('postgresUrl'), { migrated: true })),
  );
  try {
    const [one, two] = databases.map(({ url }) => url) as [string, string];
    expect(await dump(one)).toBe(await dump(two));
    for (const change of [
      'ALTER TABLE packhouse.bundle ADD COLUMN more int4',
      'ALTER TABLE packhouse.fragment ALTER COLUMN body SET STORAGE EXTENDED',
      'CREATE INDEX more ON packhouse.head (observed_at)',
      'ALTER TABLE packhouse.bundle DROP CONSTRAINT bundle_overlap',
      'DROP TRIGGER bundle_inserted ON packhouse.bundle',
    ]) {
      const before = await dump(two);
      const client = new pg.Client({ connectionString: two });
      await client.connect();
      await client.query(change);
      await client.end();
      expect(await dump(two), change).not.toBe(before);
    }
  } finally {
    await Promise.all(databases.map((database) => database.drop()));
  }
});
