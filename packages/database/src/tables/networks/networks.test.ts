import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('registers a network once, however often and by however many it is told', async () => {
  const processes = Array.from({ length: 5 }, () => open.another());
  await Promise.all(processes.map(({ networks }) => networks.register({ id: 'many', chainId: 5 })));
  await open.database.networks.register({ id: 'many', chainId: 5 });
  expect(await open.database.networks.list()).toEqual([
    { id: 'main', chainId: 1 },
    { id: 'many', chainId: 5 },
  ]);
});

it('refuses a known network with another chain id', async () => {
  await expect(open.database.networks.register({ id: 'main', chainId: 2 })).rejects.toMatchObject({
    code: 'NODE_WRONG_CHAIN',
    data: { expected: 1, got: 2 },
  });
});
