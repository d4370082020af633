import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('keeps wanted ranges by priority, and their states', async () => {
  const { wanted } = open.database;
  const late = await open.main.wanted.add({ kinds: ['traces'], start: 0, end: 10, priority: 900 });
  const first = await open.main.wanted.add({
    kinds: ['blocks', 'logs'],
    start: 5,
    end: null,
    priority: 1,
  });
  expect(await wanted.list()).toEqual([first, late]);
  expect(await open.database.network('nowhere').wanted.list()).toEqual([]);
  expect(await open.main.wanted.list()).toEqual([first, late]);
  expect(await wanted.setState(late.id, 'cancelled')).toEqual({ ...late, state: 'cancelled' });
  expect((await wanted.list()).map(({ id }) => id)).not.toContain(-1);
  expect(await wanted.setState(-1, 'paused')).toBeNull();
});
