import { createDatabase, type Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { commandContext } from '../connect.js';
import { jsonLines, memoryIo, type Outcome, run } from '../testing/run.js';

// One fresh database, from nothing to keys and backfills; run in order.
let fresh: FreshDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase(inject('postgresUrl'));
  database = createDatabase({
    connectionString: fresh.url,
    context: commandContext(memoryIo().io),
    applicationName: 'test',
  });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const packhouse = (...args: string[]): Promise<Outcome> => run(args, { env: { DATABASE_URL: fresh.url } });

/** The outcome of a command that has to succeed. */
async function done(...args: string[]): Promise<Outcome> {
  const outcome = await packhouse(...args);
  expect(outcome).toMatchObject({ code: 0, err: '' });
  return outcome;
}

/** The one line of a command that has to fail, its exit code checked. */
async function refused(code: number, ...args: string[]): Promise<string> {
  const outcome = await packhouse(...args);
  expect(outcome.err).toMatch(/^packhouse: [^\n]+\n$/);
  expect(outcome).toMatchObject({ code, out: '' });
  return outcome.err.trim();
}

describe('before the schema is there', () => {
  test.each([['status'], ['keys list'], ['backfill list']])(
    '`packhouse %s` says to migrate',
    async (command) => {
      expect(await refused(75, ...command.split(' '))).toMatch(
        /`packhouse migrate`.*\[DATABASE_NOT_MIGRATED\]$/,
      );
    },
  );

  test('migrate brings it up, and has nothing to do the next time', async () => {
    const [first] = jsonLines(await done('migrate', '--json'));
    expect(first).toEqual({ applied: expect.arrayContaining(['0001_initial']) });
    expect((await done('migrate')).out).toBe('The schema is up to date.\n');
    expect(jsonLines(await done('migrate', '--json'))).toEqual([{ applied: [] }]);
  });

  test('without an address, and with one where nobody is, the way out is named', async () => {
    const without = await run(['migrate'], { env: { DATABASE_URL: '' } });
    expect(without.code).toBe(78);
    expect(without.err).toMatch(
      /DATABASE_URL: it is not set, expected a Postgres address, .*\[SETTINGS_INVALID\]\n$/,
    );
    const nobody = await run(['keys', 'list'], {
      env: { DATABASE_URL: 'postgres://someone:secret@127.0.0.1:9/none' },
    });
    expect(nobody.code).toBe(69);
    expect(nobody.err).toMatch(/127\.0\.0\.1:9\/none .*\[DATABASE_UNAVAILABLE\]\n$/);
    expect(nobody.err).not.toContain('secret');
  });

  test('a log level that does not exist is refused by name', async () => {
    const { code, err } = await run(['keys', 'list'], {
      env: { DATABASE_URL: fresh.url, LOG_LEVEL: 'loud' },
    });
    expect(err).toMatch(/LOG_LEVEL: got "loud", expected one of fatal, .*\[SETTINGS_INVALID\]\n$/);
    expect(code).toBe(78);
  });
});

describe('keys', () => {
  test('a key is shown once, and listed by its prefix afterwards', async () => {
    const { out } = await done('keys', 'create', '--application', 'analytics', '--plan', 'free');
    const key = out.split('\n')[0] as string;
    expect(key).toMatch(/^ph_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
    const list = (await done('keys', 'list')).out;
    expect(list).toMatch(/^PREFIX +APPLICATION +NETWORK +PLAN +STATE +ONLY\n/);
    expect(list).toMatch(new RegExp(`^${key.slice(0, 11)} +analytics +all +free +active +-$`, 'm'));
    expect(list).not.toContain(key);
  });

  test('as JSON, with network and end', async () => {
    const [row] = jsonLines(
      await done(
        'keys',
        'create',
        '--application',
        'indexer',
        '--network',
        'main',
        '--expires',
        '2999-01-31',
        '--json',
      ),
    );
    expect(row).toMatchObject({
      apiKey: expect.stringMatching(/^ph_/),
      application: 'indexer',
      network: 'main',
      plan: 'standard',
      expiresAt: '2999-01-31T00:00:00.000Z',
      revokedAt: null,
    });
    const listed = jsonLines(await done('keys', 'list', '--json'));
    const { apiKey: _, ...shown } = row as Record<string, unknown>;
    expect(listed).toContainEqual(shown);
    expect(JSON.stringify(listed)).not.toContain(row?.apiKey);
    expect((await done('keys', 'list')).out).toMatch(/indexer +main +standard +active until 2999-01-31T/);
  });

  test('a key may be restricted, and the list says to what', async () => {
    const { out } = await done(
      ...[
        'keys',
        'create',
        '--application',
        'shop',
        '--origin',
        'https://Shop.example.com/',
        '*.example.org',
      ],
      ...['--address', '10.0.0.0/8,203.0.113.7', '--method', 'eth_call'],
    );
    expect(out).toMatch(
      / Only origin https:\/\/shop\.example\.com, origin \*\.example\.org, address 10\.0\.0\.0\/8, address 203\.0\.113\.7, method eth_call\n$/,
    );
    expect((await done('keys', 'list')).out).toMatch(/shop .* active +origin https:.*, method eth_call$/m);
    const rows = jsonLines(await done('keys', 'list', '--json'));
    expect(rows.find((row) => row.application === 'shop')).toMatchObject({
      origins: ['https://shop.example.com', '*.example.org'],
      addresses: ['10.0.0.0/8', '203.0.113.7'],
      methods: ['eth_call'],
    });
    expect(await refused(64, 'keys', 'create', '--application', 'shop', '--address', 'office')).toMatch(
      /--address cannot be "office".*10\.0\.0\.0\/8.*\[USAGE\]$/,
    );
  });

  test('a key that has ended is not called active', async () => {
    await database.keys.create({
      application: 'former',
      network: null,
      plan: 'free',
      expiresAt: new Date('2020-01-01'),
    });
    expect((await done('keys', 'list')).out).toMatch(/former +all +free +expired 2020-01-01T/);
  });

  test('a key is revoked by prefix, by number or whole, and may be revoked again', async () => {
    const make = async (): Promise<Record<string, unknown>> =>
      jsonLines(await done('keys', 'create', '--application', 'gone', '--json'))[0] as Record<
        string,
        unknown
      >;
    const [a, b, c] = [await make(), await make(), await make()];
    expect((await done('keys', 'revoke', a.prefix as string)).out).toBe(
      `Key ${a.prefix} of gone is revoked.\n`,
    );
    await done('keys', 'revoke', a.prefix as string);
    expect(jsonLines(await done('keys', 'revoke', String(b.id), '--json'))).toMatchObject([
      { prefix: b.prefix, revokedAt: expect.any(String) },
    ]);
    await done('keys', 'revoke', c.apiKey as string);
    const states = jsonLines(await done('keys', 'list', '--json')).filter(
      (row) => row.application === 'gone',
    );
    expect(states.every((row) => row.revokedAt !== null)).toBe(true);
    expect((await done('keys', 'list')).out).toMatch(/gone +all +standard +revoked 20/);
  });

  test.each([
    [
      ['create', '--application', 'x', '--plan', 'golden'],
      /no plan "golden".*free, standard, unlimited.*\[PLAN_UNKNOWN\]$/,
    ],
    [
      ['create', '--application', 'x', '--expires', '2020-01-01'],
      /--expires takes a date in the future, got "2020-01-01".*\[USAGE\]$/,
    ],
    [['create', '--application', 'x', '--expires', 'soon'], /--expires.*"soon".*\[USAGE\]$/],
    [['create', '--application', ''], /--application.*\[USAGE\]$/],
    [['create', '--application', 'x', '--network', 'Main Net'], /--network.*"Main Net".*\[USAGE\]$/],
    [['revoke', 'ph_nobodyXX'], /no key "ph_nobodyXX".*`packhouse keys list`.*\[KEY_UNKNOWN\]$/],
    [['revoke', '999999999999'], /no key.*\[KEY_UNKNOWN\]$/],
    [['revoke', '99999999999999999999'], /no key.*\[KEY_UNKNOWN\]$/],
  ])('keys %j is refused', async (args, line) => {
    expect(await refused(64, 'keys', ...(args as string[]))).toMatch(line as RegExp);
  });

  test('a whole secret is not repeated when there is no such key', async () => {
    const secret = `ph_nobodyXX_${'s'.repeat(43)}`;
    expect(await refused(64, 'keys', 'revoke', secret)).not.toContain('sss');
  });
});

describe('backfills', () => {
  test('nothing wanted is an empty table', async () => {
    expect((await done('backfill', 'list')).out).toBe('ID  NETWORK  RANGE  KINDS  PRIORITY  STATE\n');
    expect((await done('backfill', 'list', '--json')).out).toBe('');
    expect((await done('status', '--json')).out).toBe('');
  });

  test('are added, listed, paused, resumed and cancelled', async () => {
    await database.networks.register({ id: 'main', chainId: 1 });
    await database.networks.register({ id: 'other', chainId: 2 });
    const [row] = jsonLines(
      await done(
        'backfill',
        'add',
        '--network',
        'main',
        '--from',
        '17_000_000',
        '--to',
        '17,000,999',
        '--kinds',
        'logs,receipts',
        '--priority',
        '10',
        '--json',
      ),
    );
    expect(row).toMatchObject({
      network: 'main',
      start: 17_000_000,
      end: 17_000_999,
      kinds: ['receipts', 'logs'],
      priority: 10,
      state: 'active',
    });
    const id = String(row?.id);
    expect((await done('backfill', 'add', '--network', 'other', '--from', '5')).out).toMatch(
      /^Backfill \d+ is wanted: other from 5 and along the head, blocks, transactions, receipts, logs, traces, priority 100\.\n$/,
    );
    expect((await done('backfill', 'list')).out).toMatch(
      new RegExp(`^${id} +main +17000000-17000999 +receipts,logs +10 +active$`, 'm'),
    );
    expect(jsonLines(await done('backfill', 'list', '--network', 'other', '--json'))).toMatchObject([
      { network: 'other', start: 5, end: null },
    ]);
    expect((await done('backfill', 'pause', id)).out).toMatch(
      new RegExp(`^Backfill ${id} is paused: main 17000000 to `),
    );
    expect(jsonLines(await done('backfill', 'resume', id, '--json'))).toMatchObject([{ state: 'active' }]);
    expect((await done('backfill', 'cancel', id)).out).toMatch(/ is cancelled: /);
    expect((await done('backfill', 'list')).out).toMatch(/ cancelled$/m);
  });

  test.each([
    [['add', '--network', 'nowhere', '--from', '1'], /network "nowhere".*\[NETWORK_UNKNOWN\]$/],
    [
      ['add', '--network', 'main', '--from', '20', '--to', '10'],
      /reversed.*--from 10 --to 20.*\[RANGE_INVALID\]$/,
    ],
    [['add', '--network', 'main', '--from', '0x10'], /--from.*"0x10".*\[RANGE_INVALID\]$/],
    [
      ['add', '--network', 'main', '--from', '1', '--to', 'finalized'],
      /--to.*"finalized".*\[RANGE_INVALID\]$/,
    ],
    [['add', '--network', 'main', '--from', '1', '--kinds', 'blobs'], /no kind "blobs".*\[KIND_UNKNOWN\]$/],
    [['add', '--network', 'main', '--from', '1', '--priority', '0'], /--priority.*1 to 1000.*\[USAGE\]$/],
    [['pause', '999'], /no backfill 999.*\[BACKFILL_UNKNOWN\]$/],
    [['pause', '9007199254740991'], /no backfill.*\[BACKFILL_UNKNOWN\]$/],
    [['cancel', 'all'], /"all".*\[USAGE\]$/],
  ])('backfill %j is refused', async (args, line) => {
    expect(await refused(64, 'backfill', ...(args as string[]))).toMatch(line as RegExp);
  });
});

describe('status', () => {
  test('per network and kind: wanted, staged, published, quarantined, rate, ETA', async () => {
    await database.head.set({ network: 'other', number: 14, hash: `0x${'ab'.repeat(32)}`, finalized: 10 });
    await database.quarantine.put({
      network: 'other',
      number: 7,
      kinds: ['traces'],
      cause: 'PROOF_FAILED',
      message: 'the root differs',
      upstream: null,
      payloadDigest: null,
    });
    const lines = (await done('status', '--network', 'other')).out.trim().split('\n');
    expect(lines[0]).toMatch(
      /^NETWORK +KIND +WANTED +STAGED +PUBLISHED +QUARANTINED +BUNDLES +SIZE +BLOCKS\/S +ETA$/,
    );
    expect(lines.slice(1, 6).map((line) => line.split(/ {2,}/))).toEqual(
      ['blocks', 'transactions', 'receipts', 'logs', 'traces'].map((kind) => [
        'other',
        kind,
        '10',
        '0',
        '0',
        kind === 'traces' ? '1' : '0',
        '0',
        '0 B',
        '0.0',
        '-',
      ]),
    );
  });

  test('as JSON: one object a network, the holes by range', async () => {
    const statuses = jsonLines(await done('status', '--json'));
    expect(statuses.map((status) => status.network)).toEqual(['main', 'other']);
    expect(statuses[1]).toMatchObject({ head: 14, finalized: 10 });
    const kinds = statuses[1]?.kinds as Record<string, unknown>[];
    expect(kinds.find((kind) => kind.kind === 'traces')).toMatchObject({
      wanted: 10,
      quarantined: 1,
      missing: [
        { start: 5, end: 6 },
        { start: 8, end: 14 },
      ],
      blocksPerSecond: 0,
      etaSeconds: null,
    });
  });

  test('a network that the database does not know is refused with those that it knows', async () => {
    expect(await refused(64, 'status', '--network', 'nowhere')).toMatch(
      /network "nowhere"\. It knows main, other\. \[NETWORK_UNKNOWN\]$/,
    );
  });
});

describe('alarms', () => {
  test('what is open stands in the status and in the list, and is cleared by name', async () => {
    expect((await done('alarms', 'list')).out).toBe('No alarm is open.\n');
    expect((await done('alarms', 'list', '--all')).out).toBe('No alarm was ever raised.\n');
    await database.alarms.raise({
      network: 'other',
      name: 'REORG_BELOW_FINALITY',
      message: 'Block 7 differs.',
      data: { number: 7 },
    });
    expect((await done('status')).out).toMatch(/^other +REORG_BELOW_FINALITY .* open +Block 7 differs\.$/m);
    const statuses = jsonLines(await done('status', '--json'));
    expect(statuses.map((status) => (status.alarms as unknown[]).length)).toEqual([0, 1]);
    expect(jsonLines(await done('alarms', 'list', '--network', 'other', '--json'))).toMatchObject([
      { network: 'other', name: 'REORG_BELOW_FINALITY', data: { number: 7 }, clearedAt: null },
    ]);
    expect(await refused(64, 'alarms', 'clear', 'other', 'REORG')).toMatch(
      /Open are: other REORG_BELOW_FINALITY\. \[ALARM_UNKNOWN\]$/,
    );
    expect((await done('alarms', 'clear', 'other', 'REORG_BELOW_FINALITY')).out).toBe(
      'Alarm REORG_BELOW_FINALITY of other is cleared.\n',
    );
    expect((await done('status')).out).not.toContain('REORG_BELOW_FINALITY');
    expect((await done('alarms', 'list', '--all')).out).toMatch(
      /cleared .* by operator +Block 7 differs\.$/m,
    );
  });
});
