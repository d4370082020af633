import { toDay } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
  await open.database.operators.add({ name: 'ada', role: 'owner', password: null });
});
afterAll(() => open.close());

const terms = { owner: null, description: '', contact: '' };
const addKey = async (application: string, expiresAt: Date | null = null) =>
  (await open.database.keys.create({ application, network: null, plan: 'free', expiresAt })).row;

it('lists applications with their live keys, the newest of them, and the last use of any', async () => {
  const { applications, keys, usage } = open.database;
  const made = await applications.add({
    name: 'shop',
    owner: 'ada',
    description: 'Sells.',
    contact: '#shop',
  });
  expect(made).toMatchObject({ owner: 'ada', liveKeys: 0, prefixes: [], lastUsedAt: null, archivedAt: null });
  expect(await applications.add({ ...terms, name: 'shop' })).toBeNull();
  const rows = [await addKey('shop'), await addKey('shop'), await addKey('shop'), await addKey('shop')];
  await addKey('shop', new Date('2020-01-01'));
  await keys.revoke(rows[3]?.prefix ?? '');
  const count = { network: 'main', method: 'eth_call', requests: 1, units: 1, errors: 0, bytes: 1 };
  await usage.add([{ ...count, keyId: rows[0]?.id ?? 0, day: toDay(Date.now()) }]);
  const { lastUsedAt } = (await keys.named(rows[0]?.prefix ?? '')) ?? {};
  expect(await applications.named('shop')).toEqual({
    ...made,
    liveKeys: 3,
    prefixes: [rows[2]?.prefix, rows[1]?.prefix, rows[0]?.prefix],
    lastUsedAt,
  });
  await addKey('blog');
  const names = async (given: object) =>
    (await applications.list({ limit: 10, ...given })).map(({ name }) => name);
  expect(await names({})).toEqual(['shop', 'blog']);
  expect(await names({ search: 'SHO' })).toEqual(['shop']);
  expect(await names({ search: rows[3]?.prefix })).toEqual(['shop']);
  expect(await names({ owner: 'ada' })).toEqual(['shop']);
  expect(await names({ owner: 'nobody' })).toEqual([]);
  expect(await names({ limit: 1, after: made?.id })).toEqual(['blog']);
  expect((await keys.list({ application: made?.id, owner: 'ada' })).map(({ owner }) => owner)).toEqual(
    Array(5).fill('ada'),
  );
  expect(await keys.list({ owner: 'nobody' })).toEqual([]);
});

it('an archived application has no live keys and gets none, also from those who create one meanwhile', async () => {
  const { applications, keys } = open.database;
  const { id = 0 } = (await applications.add({ ...terms, name: 'old' })) ?? {};
  await addKey('old');
  const racing = Array.from({ length: 10 }, () => addKey('old').catch((error: unknown) => error));
  const [revoked, ...outcomes] = await Promise.all([applications.archive(id), ...racing]);
  const refused = outcomes.filter((outcome) => outcome instanceof Error);
  for (const error of refused) expect(error).toMatchObject({ code: 'APPLICATION_ARCHIVED' });
  expect(revoked).toHaveLength(11 - refused.length);
  expect(await applications.named('old')).toMatchObject({ liveKeys: 0, archivedAt: expect.any(Date) });
  await expect(addKey('old')).rejects.toMatchObject({ code: 'APPLICATION_ARCHIVED' });
  const plan = keys.create({ application: 'old', network: null, plan: 'none' });
  await expect(plan).rejects.toMatchObject({ code: 'APPLICATION_ARCHIVED' });
  expect(await applications.list({ search: 'old', limit: 10 })).toEqual([]);
  expect(await applications.list({ search: 'old', archived: true, limit: 10 })).toHaveLength(1);
  await applications.restore(id);
  await addKey('old');
  expect(await applications.named('old')).toMatchObject({ liveKeys: 1, archivedAt: null });
});

it('restricts all keys that are not revoked at once, or none if their plans forbid it', async () => {
  const { applications, keys } = open.database;
  const { id = 0 } = (await applications.add({ ...terms, name: 'dapp' })) ?? {};
  const [one, two, gone] = [await addKey('dapp'), await addKey('dapp'), await addKey('dapp')];
  await keys.revoke(gone.prefix);
  const given = { origins: ['https://a.example'], maxLogRange: 7 };
  expect((await applications.restrict(id, given, () => undefined)).sort()).toEqual(
    [one.prefix, two.prefix].sort(),
  );
  await applications.restrict(id, { methods: ['eth_call'] }, () => undefined);
  expect(await keys.named(one.prefix)).toMatchObject({ ...given, methods: ['eth_call'], addresses: [] });
  expect(await keys.named(gone.prefix)).toMatchObject({ origins: [] });
  const forbidden = applications.restrict(id, { origins: [] }, (plans) => {
    throw new Error([...plans].join());
  });
  await expect(forbidden).rejects.toThrow('free');
  expect(await keys.named(one.prefix)).toMatchObject({ origins: given.origins });
});

it('belongs to nobody if its owner is removed, and not to a later account of the name', async () => {
  const { applications, operators } = open.database;
  await operators.add({ name: 'bob', role: 'owner', password: null });
  const { id = 0 } = (await applications.add({ ...terms, name: 'left', owner: 'bob' })) ?? {};
  await operators.remove('bob');
  await operators.add({ name: 'bob', role: 'owner', password: null });
  expect(await applications.named('left')).toMatchObject({ owner: null });
  expect(await applications.change(id, (before) => ({ ...before, owner: 'ada' }))).toMatchObject({
    owner: 'ada',
  });
  expect(await applications.change(999_999, (before) => before)).toBeNull();
});

it('names the keys in use that end soon, the next first', async () => {
  const { keys, usage } = open.database;
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  const [later, sooner, far, unused] = [
    await addKey('ending', inDays(5)),
    await addKey('ending', inDays(2)),
    await addKey('ending', inDays(60)),
    await addKey('ending', inDays(1)),
  ];
  const count = { network: 'main', method: 'eth_call', requests: 1, units: 1, errors: 0, bytes: 1 };
  const day = toDay(Date.now());
  await usage.add([later, sooner, far].map(({ id }) => ({ ...count, keyId: id, day })));
  const found = await keys.expiring(10);
  expect(found.map(({ prefix }) => prefix)).toEqual([sooner.prefix, later.prefix]);
  expect(found[0]).toMatchObject({ application: 'ending', lastUsedAt: expect.any(Date) });
  expect(await keys.expiring(1)).toHaveLength(1);
  await keys.revoke(sooner.prefix);
  expect((await keys.expiring(10)).map(({ prefix }) => prefix)).not.toContain(unused.prefix);
});
