import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashAt } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('keeps the head of each network', async () => {
  const { head } = open.database;
  expect(await head.get('main')).toBeNull();
  await expect(
    head.set({ network: 'nowhere', number: 1, hash: hashAt(1), finalized: -1 }),
  ).rejects.toMatchObject({
    code: 'NETWORK_UNKNOWN',
  });
  await head.set({ network: 'main', number: 9, hash: hashAt(9), finalized: -1 });
  await head.set({ network: 'main', number: 8, hash: hashAt(8, 'b'), finalized: 2 });
  expect(await head.get('main')).toEqual({
    network: 'main',
    number: 8,
    hash: hashAt(8, 'b'),
    finalized: 2,
    observedAt: expect.any(Date),
  });
});
