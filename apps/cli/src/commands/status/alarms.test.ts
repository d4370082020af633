import { beforeAll, describe, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  await on.database.networks.register({ id: 'main', chainId: 1 });
  await on.database.networks.register({ id: 'other', chainId: 2 });
});

describe('alarms', () => {
  test('what is open stands in the status and in the list, and is cleared by name', async () => {
    expect((await on.done('alarms', 'list')).out).toBe('No open alarms.\n');
    expect((await on.done('alarms', 'list', '--all')).out).toBe('No alarms.\n');
    await on.database.network('other').alarms.raise({
      name: 'REORG_BELOW_FINALITY',
      message: 'Block 7 differs.',
      data: { number: 7 },
    });
    expect((await on.done('status')).out).toMatch(
      /^other +REORG_BELOW_FINALITY .* open +Block 7 differs\.$/m,
    );
    const statuses = jsonLines(await on.done('status', '--json'));
    expect(statuses.map((status) => (status.alarms as unknown[]).length)).toEqual([0, 1]);
    expect(jsonLines(await on.done('alarms', 'list', '--network', 'other', '--json'))).toMatchObject([
      { network: 'other', name: 'REORG_BELOW_FINALITY', data: { number: 7 }, clearedAt: null },
    ]);
    expect(await on.refused(64, 'alarms', 'clear', 'other', 'REORG')).toMatch(
      /Open alarms: other REORG_BELOW_FINALITY\. \[ALARM_UNKNOWN\]$/,
    );
    expect((await on.done('alarms', 'clear', 'other', 'REORG_BELOW_FINALITY')).out).toBe(
      'Alarm REORG_BELOW_FINALITY of other cleared.\n',
    );
    expect((await on.done('status')).out).not.toContain('REORG_BELOW_FINALITY');
    expect((await on.done('alarms', 'list', '--all')).out).toMatch(
      /cleared .* by operator +Block 7 differs\.$/m,
    );
  });
});
