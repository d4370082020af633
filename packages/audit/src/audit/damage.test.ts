import { createDatabase } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { expect, inject, test } from 'vitest';
import { type DamagedBundle, listDamage, raiseDamage, settleAlarm } from './damage.js';

const context: Context = {
  logger: createLogger({ name: 'test', level: 'silent' }),
  metrics: createMetrics(),
  clock: systemClock,
  signal: new AbortController().signal,
};

function bundle(firstBlock: number): DamagedBundle {
  const key = `main/logs/${firstBlock}-${firstBlock}.json.gz`;
  return {
    network: 'main',
    kind: 'logs',
    firstBlock,
    lastBlock: firstBlock,
    key,
    version: 1,
    causes: ['sha256'],
    message: 'x',
  };
}

test('what several processes found at the same time is in the alarm, and leaves it one by one', async () => {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const open = () => createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  const databases = [open(), open(), open()];
  const [first] = databases as [(typeof databases)[number]];
  await first.networks.register({ id: 'main', chainId: 1 });
  const starts = async (): Promise<number[]> => (await listDamage(first)).map(({ from }) => from).sort();

  await Promise.all(
    databases.flatMap((database, i) =>
      [1, 2].map((j) =>
        expect.poll(() => raiseDamage(database, 'main', [bundle(i * 2 + j)]), { timeout: 60_000 }).toBe(true),
      ),
    ),
  );
  expect(await starts()).toEqual([1, 2, 3, 4, 5, 6]);
  const settled = { damaged: [], others: 0, everything: false };
  await settleAlarm(first, 'main', { ...settled, seen: ({ from }) => from < 6 });
  expect(await starts()).toEqual([6]);
  await settleAlarm(first, 'main', { ...settled, seen: () => true });
  expect(await first.alarms.list()).toEqual([]);

  await Promise.all(databases.map((database) => database.close()));
  await fresh.drop();
});
