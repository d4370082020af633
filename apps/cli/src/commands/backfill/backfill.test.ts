import { describe, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();

describe('backfills', () => {
  test('nothing requested is said', async () => {
    expect((await on.done('backfill', 'list')).out).toBe(
      'No backfills yet. Add one: packhouse backfill add --network NAME --from BLOCK\n',
    );
    expect((await on.done('backfill', 'list', '--json')).out).toBe('');
    expect((await on.done('status', '--json')).out).toBe('');
  });

  test('are added, listed, paused, resumed and cancelled', async () => {
    await on.database.networks.register({ id: 'main', chainId: 1 });
    await on.database.networks.register({ id: 'other', chainId: 2 });
    const [row] = jsonLines(
      await on.done(
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
      from: 17_000_000,
      to: 17_000_999,
      kinds: ['receipts', 'logs'],
      priority: 10,
      state: 'active',
    });
    const id = String(row?.id);
    expect((await on.done('backfill', 'add', '--network', 'other', '--from', '5')).out).toMatch(
      /^Backfill \d+ added: other from 5, following the head, blocks, transactions, receipts, logs, traces, priority 100\.\n$/,
    );
    expect((await on.done('backfill', 'list')).out).toMatch(
      new RegExp(`^${id} +main +17000000-17000999 +receipts,logs +10 +default +1 +active$`, 'm'),
    );
    expect(jsonLines(await on.done('backfill', 'list', '--network', 'other', '--json'))).toMatchObject([
      { network: 'other', from: 5, to: null },
    ]);
    expect((await on.done('backfill', 'pause', id)).out).toMatch(
      new RegExp(`^Backfill ${id} paused: main 17000000 to `),
    );
    expect(jsonLines(await on.done('backfill', 'resume', id, '--json'))).toMatchObject([{ state: 'active' }]);
    expect((await on.done('backfill', 'cancel', id)).out).toMatch(/ cancelled: /);
    expect((await on.done('backfill', 'list')).out).toMatch(/ cancelled$/m);
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
    [['pause', '999'], /Unknown backfill 999.*\[BACKFILL_UNKNOWN\]$/],
    [['pause', '9007199254740991'], /Unknown backfill.*\[BACKFILL_UNKNOWN\]$/],
    [['cancel', 'all'], /The id takes .*"all".*\[USAGE\]$/],
  ])('backfill %j is refused', async (args, line) => {
    expect(await on.refused(64, 'backfill', ...(args as string[]))).toMatch(line as RegExp);
  });
});
