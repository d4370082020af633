import { pgBouncerInstalled, startPgBouncer } from '@packhouse/local';
import { describe, expect, inject, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';
import { checkServer, refuseOld } from './check-server.js';
import { migrate } from './migrate.js';

it('takes Postgres 14 and newer, and names the version of an older one', () => {
  refuseOld(140_000, 'host');
  refuseOld(180_004, 'host');
  expect(() => refuseOld(130_014, 'db.example:5432/packs')).toThrow(
    'Postgres at db.example:5432/packs has version 13, expected 14 or newer.',
  );
});

it('takes a server that gives each connection a session', async () => {
  await checkServer(inject('postgresUrl'));
});

describe.skipIf(!pgBouncerInstalled())('behind PgBouncer (needs pgbouncer)', () => {
  async function behind<T>(
    options: Omit<Parameters<typeof startPgBouncer>[0], 'url'>,
    use: (url: string, open: OpenDatabase) => Promise<T>,
  ): Promise<T> {
    const open = await openDatabase();
    const bouncer = await startPgBouncer({ url: open.url, ...options });
    try {
      return await use(bouncer.url, open);
    } finally {
      await bouncer.stop();
      await open.close();
    }
  }

  it.each([
    ['transaction', 1],
    ['transaction', 3],
    ['statement', 1],
    ['statement', 3],
  ] as const)('refuses %s mode with %i connections to the server', async (mode, poolSize) => {
    await behind({ mode, poolSize }, async (url, open) => {
      const refused = {
        code: 'DATABASE_UNSUPPORTED',
        message: expect.stringMatching(/^The pooler at .* expected one session per connection\.$/),
        hint: expect.stringContaining('pool_mode = session'),
      };
      await expect(migrate({ connectionString: url })).rejects.toMatchObject(refused);
      await expect(open.another(url).checkSchema()).rejects.toMatchObject(refused);
    });
  });

  it('refuses transaction mode that takes turns among its connections', async () => {
    await behind({ mode: 'transaction', poolSize: 2, settings: ['server_round_robin = 1'] }, async (url) => {
      await expect(checkServer(url)).rejects.toMatchObject({ code: 'DATABASE_UNSUPPORTED' });
    });
  });

  it('takes session mode, also with no connection to spare', async () => {
    await behind({ mode: 'session', poolSize: 1 }, (url) => checkServer(url));
    await behind({ mode: 'session', poolSize: 10 }, async (url, open) => {
      const database = open.another(url);
      await database.checkSchema();
      const lock = await database.tryLock('of one session');
      expect(await open.database.tryLock('of one session')).toBeNull();
      await lock?.release();
    });
  });
});
