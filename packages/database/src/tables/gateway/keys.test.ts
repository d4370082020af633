import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const digest = (key: string) => createHash('sha256').update(key).digest();

it('makes a key that is found by its digest, and keeps nothing that could open the door', async () => {
  const { keys } = open.database;
  const expiresAt = new Date('2030-01-01T00:00:00Z');
  const { key, row } = await keys.create({ application: 'demo', network: 'main', plan: 'free', expiresAt });
  expect(key).toMatch(/^ph_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
  expect(row).toEqual({
    id: expect.any(Number),
    prefix: key.slice(0, 11),
    application: 'demo',
    network: 'main',
    plan: {
      name: 'free',
      maxBlock: 3_000_000,
      requestsPerSecond: 25,
      requestsPerDay: 100_000,
      requestsPerMonth: null,
      methodsPerSecond: {},
      maxLogRange: null,
    },
    createdAt: expect.any(Date),
    expiresAt,
    revokedAt: null,
    origins: [],
    addresses: [],
    methods: [],
    contracts: [],
    maxLogRange: null,
    loggedUntil: null,
    paramsUntil: null,
    lastUsedAt: null,
    oldSecretUntil: null,
    applicationId: expect.any(Number),
    owner: null,
  });
  expect(await keys.named(row.prefix)).toEqual(row);
  const { lastUsedAt: _, oldSecretUntil: __, applicationId: ___, owner: ____, ...found } = row;
  expect(await keys.find(digest(key))).toEqual(found);
  expect(await keys.find(digest(`${key}x`))).toBeNull();
  const among = await keys.findAmong([digest(`${key}x`), digest(key)]);
  expect([...among]).toEqual([[digest(key).toString('hex'), found]]);
  const stored = JSON.stringify(await open.sql('SELECT * FROM packhouse.api_key'));
  expect(stored).not.toContain(key.slice(12));
});

it('makes several keys for one application, at the same time too', async () => {
  await Promise.all(
    Array.from({ length: 10 }, () =>
      open.database.keys.create({ application: 'busy', network: null, plan: 'standard' }),
    ),
  );
  const keys = (await open.database.keys.list()).filter(({ application }) => application === 'busy');
  expect(keys).toHaveLength(10);
  expect(new Set(keys.map(({ prefix }) => prefix)).size).toBe(10);
  expect(await open.sql("SELECT 1 FROM packhouse.application WHERE name = 'busy'")).toHaveLength(1);
});

it('names the plans there are when asked for another, and makes no application', async () => {
  const { keys } = open.database;
  await expect(keys.create({ application: 'nobody', network: null, plan: 'gold' })).rejects.toMatchObject({
    code: 'PLAN_UNKNOWN',
    hint: 'Plans are free, standard, unlimited.',
  });
  expect(await open.sql("SELECT 1 FROM packhouse.application WHERE name = 'nobody'")).toEqual([]);
  expect(await open.sql('SELECT name FROM packhouse.plan ORDER BY position')).toEqual([
    { name: 'free' },
    { name: 'standard' },
    { name: 'unlimited' },
  ]);
});

it('revokes by id or by the exact prefix, once', async () => {
  const { keys } = open.database;
  const [one, two, three] = await Promise.all(
    [0, 1, 2].map(() => keys.create({ application: 'demo', network: null, plan: 'unlimited' })),
  );
  const first = await keys.revoke(String(one!.row.id));
  expect(first?.revokedAt).toBeInstanceOf(Date);
  expect(await keys.revoke(one!.row.prefix)).toEqual(first);
  expect((await keys.revoke(two!.row.prefix))?.id).toBe(two!.row.id);
  expect((await keys.find(digest(two!.key)))?.revokedAt).toBeInstanceOf(Date);
  for (const unknown of [
    `${three!.row.prefix}_`,
    three!.key,
    '0',
    'ph_nobody00',
    'nonsense',
    '99999999999999999999',
  ]) {
    expect(await keys.revoke(unknown)).toBeNull();
  }
  expect((await keys.find(digest(three!.key)))?.revokedAt).toBeNull();
});

it('keeps where a key may be used from and for what', async () => {
  const { keys } = open.database;
  const only = {
    origins: ['https://app.example.com', '*.example.org'],
    addresses: ['10.0.0.0/8', '2001:db8::/32'],
    methods: ['eth_call', 'bundle-api'],
    contracts: [`0x${'ab'.repeat(20)}`],
    maxLogRange: 1_000,
  };
  const { key, row } = await keys.create({ application: 'demo', network: null, plan: 'free', ...only });
  expect(row).toMatchObject(only);
  expect(await keys.find(digest(key))).toMatchObject(only);
});

it('takes keys of a program that does not know of restrictions', async () => {
  await open.sql(
    `INSERT INTO packhouse.api_key (application_id, plan, network, prefix, sha256)
     SELECT id, 'free', NULL, 'ph_oldstyle', '\\xab' FROM packhouse.application WHERE name = 'demo'`,
  );
  const row = (await open.database.keys.list()).find(({ prefix }) => prefix === 'ph_oldstyle');
  expect(row).toMatchObject({ origins: [], addresses: [], methods: [], contracts: [], maxLogRange: null });
});
