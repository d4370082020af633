import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase } from '../../create-database.js';
import { type OpenDatabase, openDatabase, silentContext } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const alarm = {
  name: 'REORG_BELOW_FINALITY',
  message: 'Block 7 differs.',
  data: { number: 7 },
};

it('is raised once however many raise it at once, and says what it was told last', async () => {
  const each = [open.database, open.another(), open.another(), open.another()];
  const raised = await Promise.all(
    Array.from({ length: 20 }, (_, i) => each[i % each.length]!.network('main').alarms.raise(alarm)),
  );
  expect(raised.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(raised.map((one) => one.alarm.id)).size).toBe(1);
  const again = await open.main.alarms.raise({
    ...alarm,
    message: 'Block 8 differs.',
    data: { number: 8 },
  });
  expect(again).toMatchObject({ isNew: false, alarm: { message: 'Block 8 differs.', data: { number: 8 } } });
  expect(again.alarm.raisedAt).toEqual(raised[0]!.alarm.raisedAt);
  expect(await open.main.alarms.list()).toEqual([again.alarm]);
});

it('is cleared once, is kept, and may be raised anew', async () => {
  await open.main.alarms.raise(alarm);
  expect(await open.main.alarms.clear(alarm.name, 'operator')).toMatchObject({
    clearedBy: 'operator',
    clearedAt: expect.any(Date),
  });
  expect(await open.main.alarms.clear(alarm.name, 'operator')).toBeNull();
  expect(await open.database.network('nowhere').alarms.clear(alarm.name, 'operator')).toBeNull();
  expect(await open.database.alarms.list()).toEqual([]);
  const { isNew, alarm: second } = await open.main.alarms.raise(alarm);
  expect(isNew).toBe(true);
  const all = await open.main.alarms.list({ cleared: true });
  expect(all[0]).toEqual(second);
  expect(all[1]).toMatchObject({ clearedBy: 'operator' });
});

it('shows in the metrics of every process that looks, until it is cleared', async () => {
  await open.database.networks.register({ id: 'second', chainId: 2 });
  const context = silentContext();
  const watcher = createDatabase({ connectionString: open.url, context, applicationName: 'packhouse test' });
  const gauge = async (): Promise<string | undefined> =>
    (await context.metrics.render()).split('\n').find((line) => line.startsWith('packhouse_alarm{'));
  try {
    await watcher.network('second').alarms.list();
    expect(await gauge()).toBeUndefined();
    await open.database.network('second').alarms.raise({ ...alarm });
    await watcher.network('second').alarms.list();
    expect(await gauge()).toBe('packhouse_alarm{network="second",name="REORG_BELOW_FINALITY"} 1');
    await open.database.network('second').alarms.clear(alarm.name, 'itself');
    await watcher.network('main').alarms.list();
    expect(await gauge()).toMatch(/ 1$/);
    await watcher.network('second').alarms.list();
    expect(await gauge()).toMatch(/ 0$/);
  } finally {
    await watcher.close();
  }
});

it('is refused for a network that nobody knows', async () => {
  await expect(open.database.network('nowhere').alarms.raise({ ...alarm })).rejects.toMatchObject({
    code: 'NETWORK_UNKNOWN',
  });
});
