import { runSql } from '@packhouse/local';
import { expect, inject, it } from 'vitest';
import { makeBundle } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

const admin = (text: string): Promise<object[]> => runSql(inject('postgresUrl'), text);

const endAll = (name: string): Promise<object[]> =>
  admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);

/** Runs `work`, then puts the database back to what it was before, under the same address. */
async function lose({ url }: OpenDatabase, work: () => Promise<void>): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await endAll(name);
  await admin(`CREATE DATABASE ${name}_backup TEMPLATE ${name}`);
  await work();
  await endAll(name);
  await admin(`ALTER DATABASE ${name} RENAME TO ${name}_lost`);
  await admin(`ALTER DATABASE ${name}_backup RENAME TO ${name}`);
  await admin(`DROP DATABASE ${name}_lost`);
}

it('a process forgets what a database that was set back lost, though counters have the same values again', async () => {
  const open = await openDatabase();
  const add = (of: OpenDatabase['main'], from: number) =>
    of.backfills.add({ kinds: ['logs'], from, to: from + 9, priority: 1 });
  const { main } = open;
  await main.bundles.publish(makeBundle('logs', 0, 9));
  let lost: ReadonlyMap<string, string> = new Map();
  expect(open.database.incarnation()).toBe(0);

  await lose(open, async () => {
    await expect.poll(() => main.coverage('logs').catch(() => null)).not.toBeNull();
    for (const at of [10, 20]) await main.bundles.publish(makeBundle('logs', at, at + 9));
    await add(main, 100);
    expect((await main.coverage('logs')).published).toEqual([{ firstBlock: 0, lastBlock: 29 }]);
    expect((await main.backfills.runs()).active.get('logs')).toEqual([{ firstBlock: 100, lastBlock: 109 }]);
    lost = await open.database.backfills.versions();
    await open.database.networks.register({ id: 'lost', chainId: 2 });
    expect(await open.database.network('lost').head.get()).toBeNull();
  });
  const other = open.another();
  for (const at of [40, 60]) await other.network('main').bundles.publish(makeBundle('logs', at, at + 9));
  await add(other.network('main'), 200);
  await other.networks.register({ id: 'other', chainId: 3 });
  await other.network('other').head.set({ number: 7, hash: `0x${'07'.repeat(32)}`, finalized: 7 });

  await expect
    .poll(() =>
      main.coverage('logs').then(
        ({ published }) => published,
        () => null,
      ),
    )
    .toEqual([
      { firstBlock: 0, lastBlock: 9 },
      { firstBlock: 40, lastBlock: 49 },
      { firstBlock: 60, lastBlock: 69 },
    ]);
  expect((await main.backfills.runs()).active.get('logs')).toEqual([{ firstBlock: 200, lastBlock: 209 }]);
  // The id of the network that was lost is another's now.
  expect(await open.database.network('lost').head.get()).toBeNull();
  const versions = await open.database.backfills.versions();
  expect([...versions.keys()]).toEqual([...lost.keys()]);
  expect(versions).not.toEqual(lost);
  expect(open.database.incarnation()).toBeGreaterThan(0);
  await open.close();
});
