import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashAt } from '../../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('keeps the head of each network', async () => {
  expect(await open.main.head.get()).toBeNull();
  await expect(
    open.database.network('nowhere').head.set({ number: 1, hash: hashAt(1), finalized: -1 }),
  ).rejects.toMatchObject({
    code: 'NETWORK_UNKNOWN',
  });
  await open.main.head.set({ number: 9, hash: hashAt(9), finalized: -1 });
  await open.main.head.set({ number: 8, hash: hashAt(8, 'b'), finalized: 2 });
  expect(await open.main.head.get()).toEqual({
    network: 'main',
    number: 8,
    hash: hashAt(8, 'b'),
    finalized: 2,
    observedAt: expect.any(Date),
  });
});
