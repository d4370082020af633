import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('remembers since when staging is full, and forgets it', async () => {
  expect(await open.main.pressure.get()).toBeNull();
  expect(await open.database.network('nowhere').pressure.get()).toBeNull();
  await open.main.pressure.note({ stagedBytes: 200, limitBytes: 100 });
  const first = await open.main.pressure.get();
  expect(first).toMatchObject({ stagedBytes: 200, limitBytes: 100 });
  await open.main.pressure.note({ stagedBytes: 300, limitBytes: 100 });
  expect(await open.main.pressure.get()).toEqual({ since: first?.since, stagedBytes: 300, limitBytes: 100 });
  await open.main.pressure.clear();
  await open.database.network('nowhere').pressure.clear();
  expect(await open.main.pressure.get()).toBeNull();
});
