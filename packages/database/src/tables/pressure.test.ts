import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('remembers since when staging is full, and forgets it', async () => {
  const { pressure } = open.database;
  expect(await pressure.get('main')).toBeNull();
  expect(await pressure.get('nowhere')).toBeNull();
  await pressure.note('main', { stagedBytes: 200, limitBytes: 100 });
  const first = await pressure.get('main');
  expect(first).toMatchObject({ stagedBytes: 200, limitBytes: 100 });
  await pressure.note('main', { stagedBytes: 300, limitBytes: 100 });
  expect(await pressure.get('main')).toEqual({ since: first?.since, stagedBytes: 300, limitBytes: 100 });
  await pressure.clear('main');
  await pressure.clear('nowhere');
  expect(await pressure.get('main')).toBeNull();
});
