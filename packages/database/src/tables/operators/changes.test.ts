import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('keeps changes for a year, the newest first, by subject', async () => {
  const { changes } = open.database;
  const set = { actor: 'ada', action: 'set', before: { perDay: 1 }, after: { perDay: 2 } };
  await changes.add({ ...set, subject: 'budget one' });
  await changes.add({ ...set, subject: 'budget two', before: null });
  expect(await changes.list()).toMatchObject([
    { ...set, subject: 'budget two', before: null, at: expect.any(Date) },
    { ...set, subject: 'budget one' },
  ]);
  expect((await changes.list({ subject: 'budget one' })).length).toBe(1);
  await open.sql("UPDATE packhouse.change SET at = at - interval '366 days' WHERE subject = 'budget one'");
  await changes.add({ ...set, subject: 'budget three', after: null });
  expect((await changes.list()).map(({ subject }) => subject)).toEqual(['budget three', 'budget two']);
  expect((await changes.list({ limit: 1 })).length).toBe(1);
});
