import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const list = (network?: string, limit = 100) =>
  open.database.history.marks.list({
    since: new Date(Date.now() - 3_600_000),
    until: new Date(Date.now() + 3_600_000),
    network,
    limit,
  });

it('tells what happened, of one network or all, from the tables that keep it', async () => {
  const { database, main } = open;
  const { marks } = database.history;
  await database.networks.register({ id: 'other', chainId: 2 });
  await marks.deployed('packer', '0.1.0');
  await marks.deployed('packer', '0.1.0');
  await marks.deployed('gateway', '0.1.0');
  await marks.deployed('packer', '0.2.0');
  await main.alarms.raise({ name: 'STUCK', message: 'x'.repeat(10_000) });
  await main.alarms.clear('STUCK', 'operator');
  await main.backfills.add({ kinds: ['blocks'], from: 4, to: 5, priority: 1 });
  await marks.quarantine('quarantine-begin', 'other', 'blocks: 3');
  const by = { actor: 'ada', before: null, after: null };
  await database.changes.add({ ...by, subject: 'worker 1', action: 'drain' });
  await database.changes.add({ ...by, subject: 'node other a', action: 'cordon' });
  await database.changes.add({ ...by, subject: 'plan free', action: 'set' });
  const tell = async (network?: string) =>
    (await list(network)).map(({ kind, subject }) => `${kind} ${subject}`).sort();
  const everywhere = ['deploy gateway', 'deploy packer', 'deploy packer', 'drain worker 1'];
  const ofMain = ['alarm-begin STUCK', 'alarm-end STUCK', 'backfill-begin backfill 1'];
  const ofOther = ['cordon node other a', 'quarantine-begin quarantine'];
  expect(await tell()).toEqual([...everywhere, ...ofMain, ...ofOther].sort());
  expect(await tell('main')).toEqual([...everywhere, ...ofMain].sort());
  expect(await tell('other')).toEqual([...everywhere, ...ofOther].sort());
  expect(await list(undefined, 2)).toHaveLength(2);
  const alarm = (await list('main')).find(({ kind }) => kind === 'alarm-begin');
  expect(alarm).toMatchObject({ network: 'main', subject: 'STUCK', message: 'x'.repeat(300) });

  await open.sql(`UPDATE packhouse.backfill SET done = true, done_at = clock_timestamp()`);
  expect(await tell('main')).toContain('backfill-end backfill 1');
  const { id } = await main.backfills.add({ kinds: ['blocks'], from: 4, to: 5, priority: 1 });
  const why = { actor: 'ada', action: 'cancel', reason: 'not needed' };
  await database.backfills.change(id, { state: 'paused' }, why);
  expect(await tell('main')).not.toContain(`backfill-end backfill ${id}`);
  await database.backfills.change(id, { state: 'cancelled' }, why);
  expect(await list('main')).toContainEqual(
    expect.objectContaining({ kind: 'backfill-end', message: 'cancelled by ada: not needed' }),
  );
  await marks.quarantine('quarantine-begin', 'main', 'blocks: 1');
  await marks.quarantine('quarantine-end', 'main', 'none');
  expect(await marks.quarantined()).toEqual(['other']);
});

it('keeps the newest marks of a year', async () => {
  await open.sql(`INSERT INTO packhouse.history_mark (kind, subject, message, at)
    SELECT 'deploy', 'many', n::text, clock_timestamp() - n * interval '1 s' FROM generate_series(1, 25000) AS n`);
  await open.sql(`INSERT INTO packhouse.history_mark (kind, subject, message, at)
    VALUES ('deploy', 'old', '1', clock_timestamp() - interval '2 years')`);
  await open.database.history.marks.forget();
  const [row] = await open.sql<{ all: number; old: number }>(
    `SELECT count(*)::int4 AS all, (count(*) FILTER (WHERE subject = 'old'))::int4 AS old FROM packhouse.history_mark`,
  );
  expect(row).toEqual({ all: 19_999, old: 0 });
});
