import { describe, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();

describe('keys', () => {
  test('a key is shown once, and listed by its prefix afterwards', async () => {
    const { out } = await on.done('keys', 'create', '--application', 'analytics', '--plan', 'free');
    const key = out.split('\n')[0] as string;
    expect(key).toMatch(/^ph_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
    const list = (await on.done('keys', 'list')).out;
    expect(list).toMatch(/^PREFIX +APPLICATION +NETWORK +PLAN +STATE +LAST USED +RESTRICTIONS\n/);
    expect(list).toMatch(new RegExp(`^${key.slice(0, 11)} +analytics +all +free +active +- +-$`, 'm'));
    expect(list).not.toContain(key);
  });

  test('as JSON, with network and end', async () => {
    const [row] = jsonLines(
      await on.done(
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
    const listed = jsonLines(await on.done('keys', 'list', '--json'));
    const { apiKey: _, ...shown } = row as Record<string, unknown>;
    expect(listed).toContainEqual(shown);
    expect(JSON.stringify(listed)).not.toContain(row?.apiKey);
    expect((await on.done('keys', 'list')).out).toMatch(/indexer +main +standard +active until 2999-01-31T/);
  });

  test('a key is edited and rotated; `any` takes a restriction away', async () => {
    const made = await on.done('keys', 'create', '--application', 'edited', '--address', '10.0.0.0/8');
    const prefix = made.out.slice(0, 11);
    const set = await on.done(
      'keys',
      'set',
      prefix,
      '--address',
      'any',
      '--method',
      'eth_call',
      '--expires',
      '2999-01-31',
    );
    expect(set.out).toBe(`Key ${prefix} changed: plan standard. Only method eth_call\n`);
    expect((await on.done('keys', 'set', prefix, '--expires', 'any', '--method', 'any')).out).toBe(
      `Key ${prefix} changed: plan standard.\n`,
    );
    const { out } = await on.done('keys', 'rotate', prefix, '--overlap', '2');
    expect(out).toMatch(
      new RegExp(
        `^${prefix}_[\\w-]{43}\\nStore it now: only its hash is kept. The old secret works until .*Z.\\n$`,
      ),
    );
    expect(await on.refused(64, 'keys', 'rotate', prefix, '--overlap', '721')).toContain('0 to 720');
  });

  test('a key may be restricted, and the list says to what', async () => {
    const { out } = await on.done(
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
    expect((await on.done('keys', 'list')).out).toMatch(
      /shop .* active +- +origin https:.*, method eth_call$/m,
    );
    const rows = jsonLines(await on.done('keys', 'list', '--json'));
    expect(rows.find((row) => row.application === 'shop')).toMatchObject({
      origins: ['https://shop.example.com', '*.example.org'],
      addresses: ['10.0.0.0/8', '203.0.113.7'],
      methods: ['eth_call'],
    });
    expect(await on.refused(64, 'keys', 'create', '--application', 'shop', '--address', 'office')).toMatch(
      /--address cannot be "office".*10\.0\.0\.0\/8.*\[USAGE\]$/,
    );
  });

  test('a key may be restricted to contracts, and to fewer blocks of logs than its plan', async () => {
    const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
    const { out } = await on.done(
      ...['keys', 'create', '--application', 'dapp', '--contract', contract, `0x${'1'.repeat(40)}`],
      ...['--max-log-range', '1,000'],
    );
    expect(out).toMatch(/ Only contract 0xdac17f.*c7, contract 0x1{40}, logs of 1,000 blocks\n$/);
    const rows = jsonLines(await on.done('keys', 'list', '--json'));
    expect(rows.find((row) => row.application === 'dapp')).toMatchObject({
      contracts: [contract.toLowerCase(), `0x${'1'.repeat(40)}`],
      maxLogRange: 1_000,
    });
    for (const [option, value] of [
      ['--contract', 'tether.eth'],
      ['--max-log-range', '0'],
    ] as const) {
      expect(await on.refused(64, 'keys', 'create', '--application', 'dapp', option, value)).toMatch(
        new RegExp(`^${option} .*\\[USAGE\\]$`),
      );
    }
  });

  test('a key that has ended is not called active', async () => {
    await on.database.keys.create({
      application: 'former',
      network: null,
      plan: 'free',
      expiresAt: new Date('2020-01-01'),
    });
    expect((await on.done('keys', 'list')).out).toMatch(/former +all +free +expired 2020-01-01T/);
  });

  test('a key is revoked by prefix, by number or whole, and may be revoked again', async () => {
    const make = async (): Promise<Record<string, unknown>> =>
      jsonLines(await on.done('keys', 'create', '--application', 'gone', '--json'))[0] as Record<
        string,
        unknown
      >;
    const [a, b, c] = [await make(), await make(), await make()];
    expect((await on.done('keys', 'revoke', a.prefix as string)).out).toBe(
      `Key ${a.prefix} of gone revoked.\n`,
    );
    await on.done('keys', 'revoke', a.prefix as string);
    expect(jsonLines(await on.done('keys', 'revoke', String(b.id), '--json'))).toMatchObject([
      { prefix: b.prefix, revokedAt: expect.any(String) },
    ]);
    await on.done('keys', 'revoke', c.apiKey as string);
    const states = jsonLines(await on.done('keys', 'list', '--json')).filter(
      (row) => row.application === 'gone',
    );
    expect(states.every((row) => row.revokedAt !== null)).toBe(true);
    expect((await on.done('keys', 'list')).out).toMatch(/gone +all +standard +revoked 20/);
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
    [['revoke', 'ph_nobodyXX'], /Unknown key "ph_nobodyXX".*`packhouse keys list`.*\[KEY_UNKNOWN\]$/],
    [['revoke', '999999999999'], /Unknown key.*\[KEY_UNKNOWN\]$/],
    [['revoke', '99999999999999999999'], /Unknown key.*\[KEY_UNKNOWN\]$/],
  ])('keys %j is refused', async (args, line) => {
    expect(await on.refused(64, 'keys', ...(args as string[]))).toMatch(line as RegExp);
  });

  test('a key with anything behind or before it is refused, and nothing is revoked', async () => {
    const [row] = jsonLines(await on.done('keys', 'create', '--application', 'kept', '--json'));
    const { prefix, apiKey } = row as { prefix: string; apiKey: string };
    for (const name of [
      `${prefix}_`,
      `${prefix}_x`,
      `${prefix}x`,
      ` ${prefix}`,
      `${prefix} `,
      prefix.slice(0, -1),
      `${apiKey}x`,
      apiKey.slice(0, -1),
      `${row?.id}x`,
      `-${row?.id}`,
      `${row?.id}.0`,
      '',
      'ph_*',
    ]) {
      for (const command of ['revoke', 'usage']) {
        const line = await on.refused(64, 'keys', command, '--', name);
        expect(line).toMatch(/^A key is named by its prefix .*, by its number, or whole, got .*\[USAGE\]$/);
        expect(line).not.toContain(apiKey.slice(12));
      }
    }
    const swapped = `${prefix}_${'A'.repeat(43)}`;
    expect(await on.refused(64, 'keys', 'revoke', swapped)).toMatch(/Unknown key.*\[KEY_UNKNOWN\]$/);
    expect(await on.refused(64, 'keys', 'usage', swapped)).toMatch(/Unknown key.*\[KEY_UNKNOWN\]$/);
    const listed = jsonLines(await on.done('keys', 'list', '--json'));
    expect(listed.find((each) => each.prefix === prefix)?.revokedAt).toBeNull();
    expect((await on.done('keys', 'usage', apiKey)).out).toMatch(/^No usage/);
  });

  test('a whole secret is not repeated when there is no such key', async () => {
    const secret = `ph_nobodyXX_${'s'.repeat(43)}`;
    expect(await on.refused(64, 'keys', 'revoke', secret)).not.toContain('sss');
  });
});
