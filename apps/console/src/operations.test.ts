import { systemClock } from '@packhouse/runtime';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { useConsole } from './testing/use-console.js';

let elapsed = 1_000;
const NOON = Date.UTC(2026, 10, 11, 12);
const on = useConsole({ clock: { ...systemClock, now: () => NOON, elapsed: () => elapsed } });
const hash = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;

let admin: { authorization: string };
beforeAll(async () => {
  const { database } = on;
  for (const [id, chainId] of [
    ['main', 1],
    ['side', 2],
  ] as const) {
    await database.networks.register({ id, chainId });
    await database.network(id).head.set({ number: 99, hash: hash(99), finalized: 79 });
  }
  await database.network('main').backfills.add({ kinds: ['logs'], from: 10, to: null, priority: 1 });
  for (const [network, firstBlock, cause] of [
    ['main', 40, 'PROOF_FAILED'],
    ['main', 50, 'NODE_TIMEOUT'],
    ['side', 7, 'PROOF_FAILED'],
  ] as const) {
    const tried = [{ upstream: 'liar', cause, message: 'says otherwise', payloadDigest: 'ab'.repeat(32) }];
    await database.network(network).quarantine.put({
      firstBlock,
      kinds: ['logs'],
      cause,
      message: 'It fails.',
      upstream: 'liar',
      payloadDigest: null,
      tried,
    });
  }
  admin = await on.token('admin');
});

const read = async (name: string, headers: object = admin) =>
  (await on.ask({ url: `/api/${name}`, headers: { ...headers } })).json();
const change = (name: string, payload: object, headers: object = admin) =>
  on.ask({ method: 'POST', url: `/api/${name}`, payload, headers: { ...headers } });

test('what is quarantined is read by page and cause, shown with what upstreams said, and retried', async () => {
  const first = await read('quarantine?limit=2');
  expect(first).toMatchObject({ rows: [{ network: 'main', from: 40 }, { from: 50 }], more: true });
  const rest = await read('quarantine?limit=2&after=50&afterNetwork=main');
  expect(rest).toMatchObject({ rows: [{ network: 'side', from: 7 }], more: false });
  expect((await read('quarantine?cause=NODE_TIMEOUT')).rows).toHaveLength(1);
  expect(await read('quarantine/causes')).toContainEqual({
    network: 'main',
    cause: 'PROOF_FAILED',
    entries: 1,
    blocks: 1,
    firstSeen: expect.any(String),
    nextTry: expect.any(String),
  });
  expect(await read('quarantine/show?network=main&block=40')).toMatchObject({
    tried: [{ upstream: 'liar', message: 'says otherwise', payloadDigest: 'ab'.repeat(32) }],
    standing: { logs: 'quarantined', blocks: 'not requested' },
    advice: expect.stringContaining('does not match the block header'),
  });
  const retried = await change('quarantine/retry', { network: 'main', from: 40 }, await on.token('operator'));
  expect(retried.json()).toEqual([{ network: 'main', retried: 1 }]);
  const ofOther = await change('quarantine/retry', { network: 'main', cause: 'NODE_TIMEOUT' });
  expect(ofOther.json()).toEqual([{ network: 'main', retried: 1 }]);
  expect((await change('quarantine/retry', { network: 'main', from: 41, to: 49 })).statusCode).toBe(404);
  expect(await read('changes?subject=quarantine')).toMatchObject({
    rows: [
      { after: { blocks: 'all', cause: 'NODE_TIMEOUT', retried: 1 } },
      { subject: 'quarantine main', action: 'retry', after: { blocks: '40-40', retried: 1 } },
    ],
    more: false,
  });
});

describe('keys', () => {
  test('are made, found by page and search, and revoked; the log has no secret', async () => {
    const { apiKey, prefix, id } = (
      await change('keys/create', { application: 'Analytics <b>', origins: ['https://A.example'] })
    ).json();
    const other = (await change('keys/create', { application: 'shop', plan: 'free' })).json();
    expect(await read('keys?search=ANALYTICS')).toMatchObject({
      rows: [{ prefix, application: 'Analytics <b>', plan: 'standard', origins: ['https://a.example'] }],
    });
    expect(await read(`keys?search=${other.prefix.slice(0, 8)}`)).toMatchObject({ rows: [{ id: other.id }] });
    expect(await read('keys?limit=1')).toMatchObject({ rows: [{ id }], more: true });
    expect(await read(`keys?limit=1&after=${id}`)).toMatchObject({ rows: [{ id: other.id }], more: false });
    expect((await change('keys/revoke', { key: other.prefix })).json().revokedAt).toEqual(expect.any(String));
    expect((await change('keys/revoke', { key: apiKey })).json().error.code).toBe('INPUT_INVALID');
    const log = await read('changes?subject=key');
    expect(log.rows.map(({ action }: { action: string }) => action)).toEqual(['revoke', 'create', 'create']);
    expect(JSON.stringify(log)).not.toContain(apiKey.slice(12));
  });

  test('of operators have limits, and a number per day; admins are free', async () => {
    const operator = await on.token('operator');
    const create = (given: object = {}, headers = operator) =>
      change('keys/create', { application: 'by operators', ...given }, headers);
    const refused = await create({ plan: 'unlimited' });
    expect(refused.statusCode).toBe(403);
    expect(refused.json().error).toMatchObject({
      code: 'ROLE_TOO_LOW',
      message: expect.stringContaining('the plan "unlimited", which is unlimited'),
    });
    expect((await create({ plan: 'unlimited' }, admin)).statusCode).toBe(200);
    expect(await read('plans', operator)).toContainEqual(
      expect.objectContaining({ name: 'unlimited', unlimited: true }),
    );
    for (let key = 0; key < 18; key++) expect((await create()).statusCode).toBe(200);
    const together = await Promise.all(Array.from({ length: 8 }, () => create()));
    const made = together.filter(({ statusCode }) => statusCode === 200).length;
    for (let key = made; key < 2; key++) expect((await create()).statusCode).toBe(200);
    expect(made).toBeLessThanOrEqual(2);
    const spent = await create();
    expect(spent.statusCode).toBe(429);
    expect(spent.json().error).toMatchObject({
      code: 'KEYS_SPENT',
      message: expect.stringContaining('has created 20 keys within a day'),
    });
    expect((await create({}, await on.token('operator'))).statusCode).toBe(200);
    expect((await create({}, admin)).statusCode).toBe(200);
  });

  test.each([
    [{ application: '' }],
    [{ application: 'x', expiresAt: '2020-01-01' }],
    [{ application: 'x', addresses: ['office'] }],
    [{ application: 'x'.repeat(101) }],
  ])('%j is refused', async (input) => {
    expect((await change('keys/create', input)).statusCode).toBe(400);
  });

  test('tell their holder his own usage and limits, and nothing of others', async () => {
    const { database } = on;
    const [mine, theirs] = await Promise.all(
      ['mine', 'theirs'].map((application) =>
        database.keys.create({ application, network: null, plan: 'free' }),
      ),
    );
    const day = Math.floor(on.context.clock.now() / 86_400_000);
    const used = { day, network: 'main', method: 'eth_call', requests: 3, units: 30, errors: 1, bytes: 9 };
    await database.usage.add([
      { ...used, keyId: mine?.row.id ?? 0 },
      { ...used, keyId: theirs?.row.id ?? 0, method: 'eth_getLogs' },
    ]);
    const signedIn = await on.ask({ method: 'POST', url: '/api/sign-in', payload: { key: mine?.key } });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    expect((await read('own/usage?by=method', { cookie })).rows).toEqual([
      { name: 'eth_call', requests: 3, units: 30, errors: 1, bytes: 9 },
    ]);
    const limits = await read('own/limits', { cookie });
    expect(limits).toMatchObject({
      prefix: mine?.row.prefix,
      application: 'mine',
      limits: { unitsPerDay: 100_000 },
      used: { unitsInDay: 30, unitsInMonth: 30 },
    });
    expect(await read('own/networks', { cookie })).toContainEqual({
      id: 'main',
      chainId: 1,
      family: null,
      address: null,
      jsonRpc: null,
    });
    expect((await read('keys', { cookie })).error.code).toBe('ROLE_TOO_LOW');
    expect((await read('own/usage')).error.code).toBe('KEY_UNKNOWN');
    expect((await read(`keys/usage?application=theirs&by=method`)).rows).toMatchObject([
      { name: 'eth_getLogs', units: 30 },
    ]);
  });
});

test('of two admins who change one plan, the second one is told what changed meanwhile', async () => {
  const { name: _, keys: __, ...expected } = (await read('plans'))[0];
  const set = (unitsPerSecond: number) => change('plans/set', { name: 'free', unitsPerSecond, expected });
  expect((await set(30)).json()).toMatchObject({ name: 'free', unitsPerSecond: 30, unitsPerDay: 100_000 });
  const late = await set(40);
  expect(late.statusCode).toBe(409);
  expect(late.json().error).toMatchObject({
    code: 'CHANGED_MEANWHILE',
    data: { now: { unitsPerSecond: 30 } },
  });
  expect(await read('changes?subject=plan%20free')).toMatchObject({
    rows: [{ action: 'set', before: { unitsPerSecond: 25 }, after: { unitsPerSecond: 30 } }],
  });
});

test('a schedule is added, listed with its next time, paused, and refused what would leave the packer', async () => {
  const schedule = { name: 'nightly', command: ['status'], cron: '0 3 * * *', zone: 'Europe/Berlin' };
  expect((await change('schedules/add', schedule)).json()).toMatchObject({
    name: 'nightly',
    owner: 'default',
    missed: 'once',
    nextAt: expect.any(String),
  });
  expect((await change('schedules/add', schedule)).json().error.code).toBe('SCHEDULE_INVALID');
  expect(await read('schedules')).toMatchObject([{ name: 'nightly', paused: false }]);
  expect((await change('schedules/state', { name: 'nightly', state: 'paused' })).statusCode).toBe(200);
  expect(await read('schedules')).toMatchObject([
    { name: 'nightly', paused: true, nextAt: null, last: null },
  ]);
  expect(await read('schedules/history?name=nightly')).toEqual([]);
  for (const command of [['migrate'], ['status', '--server', 'http://elsewhere']]) {
    const refused = await change('schedules/add', { ...schedule, name: 'other', command });
    expect(refused.json().error.code).toBe('SCHEDULE_INVALID');
  }
  expect((await change('schedules/run', { name: 'nobody' })).statusCode).toBe(404);
});

test('a schedule that deletes is the affair of admins; operators may pause it', async () => {
  const operator = await on.token('operator');
  const schedule = { name: 'cleaning', command: ['audit', '--delete-orphans'], cron: '0 3 * * *' };
  const codes = async (headers: object) => {
    const seen: (string | null)[] = [];
    for (const [name, payload] of [
      ['schedules/add', schedule],
      ['schedules/run', { name: 'cleaning' }],
      ['schedules/state', { name: 'cleaning', state: 'paused' }],
      ['schedules/state', { name: 'cleaning', state: 'active' }],
      ['schedules/remove', { name: 'cleaning' }],
    ] as const) {
      seen.push((await change(name, payload, headers)).json().error?.code ?? null);
    }
    return seen;
  };
  expect((await change('schedules/add', schedule, operator)).json().error.code).toBe('ROLE_TOO_LOW');
  expect((await change('schedules/add', schedule)).json()).toMatchObject({ deletes: true });
  expect(await codes(operator)).toEqual([
    'ROLE_TOO_LOW',
    'ROLE_TOO_LOW',
    null,
    'ROLE_TOO_LOW',
    'ROLE_TOO_LOW',
  ]);
  expect((await change('schedules/remove', { name: 'cleaning' })).statusCode).toBe(200);
  expect(await codes(admin)).toEqual([null, null, null, null, null]);
});

test('a budget is set, listed with what is used, not overwritten as it was before, and removed', async () => {
  const set = (given: object, headers = admin) => change('budgets/set', { provider: 'p', ...given }, headers);
  expect((await set({ perDay: 500 })).json()).toMatchObject({ perDay: 500, usedOfDay: 0, reserve: 0.1 });
  const late = await set({ perDay: 700, expected: { perDay: 400 } });
  expect(late.statusCode).toBe(409);
  expect(late.json().error.data).toEqual({ now: { perDay: 500 } });
  expect(await read('budgets')).toMatchObject({ rows: [{ provider: 'p', perDay: 500 }], waits: [] });
  expect((await set({ perDay: 600 }, await on.token('viewer'))).json().error.code).toBe('ROLE_TOO_LOW');
  expect((await change('budgets/remove', { provider: 'p' })).json()).toEqual({
    provider: 'p',
    removed: true,
  });
  expect((await change('budgets/remove', { provider: 'p' })).json().error.code).toBe('BUDGET_UNKNOWN');
});

describe('the overview', () => {
  test('has every network in a row, and rates once something was published between two looks', async () => {
    const publish = (firstBlock: number) =>
      on.database.network('main').bundles.publish({
        kind: 'logs',
        firstBlock,
        lastBlock: firstBlock + 9,
        objectKey: `main/logs/${firstBlock}.json.gz`,
        proofs: [],
        byteLength: 100,
        rawLength: 1_000,
        sha256: hash(firstBlock).slice(2),
        formatVersion: 1,
        firstHash: hash(firstBlock),
        firstParentHash: hash(firstBlock - 1),
        lastHash: hash(firstBlock + 9),
        fragments: [
          { firstBlock: firstBlock, lastBlock: firstBlock + 9, byteLength: 10, rawLength: 20, crc32: 1 },
        ],
      });
    await publish(10);
    await on.database.network('side').alarms.raise({ name: 'REORG_BELOW_FINALITY', message: 'It differs.' });
    elapsed += 2_000;
    const [main, side] = await read('overview');
    expect(main).toMatchObject({
      network: 'main',
      head: 99,
      finalized: 79,
      firstRequested: 10,
      completeThrough: 19,
      quarantinedBlocks: 2,
      alarms: [],
      kinds: [{ kind: 'logs', blocks: 10, bytes: 100, blocksPerSecond: null }],
    });
    expect(side).toMatchObject({ alarms: [{ name: 'REORG_BELOW_FINALITY' }], kinds: [] });
    await publish(20);
    elapsed += 5_000;
    const [{ kinds }] = await read('overview');
    // 10 blocks in 5 s; of 30 to 79, two are in quarantine and 48 remain.
    expect(kinds).toMatchObject([{ blocksPerSecond: 2, bytesPerSecond: 20, etaSeconds: 24 }]);
  });

  test('is read once for 50 consoles that ask within a second, and so are their sessions', async () => {
    const { database } = on;
    const consoles = await Promise.all(Array.from({ length: 50 }, () => on.token('viewer')));
    const ask = () => Promise.all(consoles.map((headers) => read('overview', headers)));
    await ask();
    elapsed += 2_000;
    const statements = [
      vi.spyOn(database, 'standings'),
      vi.spyOn(database.alarms, 'list'),
      vi.spyOn(database.quarantine, 'causes'),
      vi.spyOn(database.operators, 'holders'),
    ];
    const answers = await ask();
    expect(answers).toHaveLength(50);
    expect(statements.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1]);
    elapsed += 900;
    await ask();
    expect(statements.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1]);
    elapsed += 200;
    await ask();
    expect(statements.map(({ mock }) => mock.calls.length)).toEqual([2, 2, 2, 2]);
    for (const statement of statements) statement.mockRestore();
  });

  test('is tried again after a failure, which nobody remembers', async () => {
    elapsed += 2_000;
    const failing = vi.spyOn(on.database, 'standings').mockRejectedValueOnce(new Error('away'));
    expect((await read('overview')).error.code).toBe('INTERNAL');
    expect(await read('overview')).toHaveLength(2);
    failing.mockRestore();
  });
});
