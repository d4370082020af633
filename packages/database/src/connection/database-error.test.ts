import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
let name: string;
beforeAll(async () => {
  open = await openDatabase();
  name = new URL(open.url).pathname.slice(1);
});
afterAll(() => open.close());

it('says that a server is read-only, and writes as soon as it is not', async () => {
  const database = open.another();
  await open.sql(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  try {
    await expect(database.networks.register({ id: 'more', chainId: 2 })).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/^Postgres at .* cannot be used: it is read-only\.$/),
      hint: expect.stringContaining('primary'),
      retryable: true,
    });
    expect(await database.networks.list()).toHaveLength(1);
  } finally {
    await open.sql(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  }
  // The connections that are left were made while it was so.
  await expect
    .poll(() => database.networks.register({ id: 'more', chainId: 2 }).then(String, () => 'refused'))
    .not.toBe('refused');
});

it('says which rights a role lacks', async () => {
  await open.sql(`CREATE ROLE reads_${name} LOGIN PASSWORD 'narrow'`);
  try {
    const url = new URL(open.url);
    url.username = `reads_${name}`;
    url.password = 'narrow';
    await expect(open.another(url.href).networks.list()).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringContaining('permission denied for schema packhouse'),
      hint: expect.stringContaining('owner'),
      retryable: false,
    });
  } finally {
    await open.sql(`DROP ROLE reads_${name}`);
  }
});
