import { runSql } from '@packhouse/local';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';
import type { NewSchedule } from './schedules.js';

let open: OpenDatabase;
let schedules: OpenDatabase['database']['schedules'];
beforeAll(async () => {
  open = await openDatabase();
  schedules = open.database.schedules;
});
beforeEach(() => runSql(open.url, 'TRUNCATE packhouse.schedule, packhouse.schedule_run'));
afterAll(() => open.close());

const nightly: NewSchedule = {
  name: 'nightly',
  owner: 'default',
  cron: '0 3 * * *',
  zone: 'UTC',
  everyMs: null,
  missed: 'once',
  command: ['audit', '--sample', '0.01'],
  setting: null,
};
const at = (hour: number): Date => new Date(Date.UTC(2026, 10, 1, hour));

it('keeps what was added, pauses it and forgets it, and keeps its runs', async () => {
  expect(await schedules.add(nightly, 'ada')).toBe(true);
  expect(await schedules.add({ ...nightly, cron: '9 9 * * *' }, 'ada')).toBe(false);
  const [before] = (await schedules.list()).schedules;
  expect(before).toMatchObject({ ...nightly, paused: false, last: null, requestedAt: null });
  expect(await schedules.setPaused('nightly', true, 'ada')).toBe(true);
  expect(await schedules.setPaused('nightly', false, 'ada')).toBe(true);
  const [after] = (await schedules.list()).schedules;
  expect(after?.since.getTime()).toBeGreaterThan(before?.since.getTime() as number);
  await schedules.begin('nightly', at(3), true);
  expect(await schedules.remove('nightly', 'ada')).toBe(true);
  expect(await schedules.remove('nightly', 'ada')).toBe(false);
  expect(await schedules.setPaused('nightly', true, 'ada')).toBe(false);
  expect(await schedules.runs('nightly', { limit: 9 })).toHaveLength(1);
  const changes = await open.database.changes.list({ subject: 'schedule nightly' });
  expect(changes.map(({ action, actor }) => `${actor} ${action}`)).toEqual([
    'ada remove',
    'ada resume',
    'ada pause',
    'ada add',
  ]);
  expect(changes[2]).toMatchObject({ before: { paused: false }, after: { paused: true } });
  expect(changes.at(-1)).toMatchObject({
    before: null,
    after: { cron: '0 3 * * *', command: nightly.command },
  });
});

it('runs a time once and one time after the other, whoever asks, and notes what is skipped', async () => {
  await schedules.add(nightly, 'ada');
  const begun = await Promise.all([1, 2, 3].map(() => schedules.begin('nightly', at(3), true)));
  expect(begun.filter((each) => each === 'begun')).toHaveLength(1);
  expect(await schedules.begin('nightly', at(3), true)).toBe('known');
  expect(await schedules.begin('nightly', at(4), true)).toBe('running');
  expect(await schedules.begin('nightly', at(5), false)).toBe('running');
  await schedules.end('nightly', at(3), { outcome: 'failed', exitCode: 64, message: 'no' });
  await schedules.end('nightly', at(3), { outcome: 'done', exitCode: 0, message: 'too late' });
  expect(await schedules.begin('nightly', at(4), true)).toBe('known');
  expect(await schedules.begin('nightly', at(6), true)).toBe('begun');
  const runs = await schedules.runs('nightly', { limit: 9 });
  expect(
    runs.map(({ due, outcome, exitCode, message }) => [due.getUTCHours(), outcome, exitCode, message]),
  ).toEqual([
    [6, null, null, null],
    [4, 'skipped', null, 'The run before it still ran.'],
    [3, 'failed', 64, 'no'],
  ]);
  expect((await schedules.list()).schedules[0]?.last).toEqual(runs[0]);
  expect(await schedules.runs('nightly', { limit: 9, from: at(5) })).toHaveLength(1);
});

it('remembers one run that is asked for until it begins', async () => {
  await schedules.add(nightly, 'ada');
  expect(await schedules.requestRun('other', 'ada')).toBe(false);
  expect(await schedules.requestRun('nightly', 'ada')).toBe(true);
  expect(await schedules.requestMissedRun('nightly', at(3))).toBe(false);
  const asked = (await schedules.list()).schedules[0]?.requestedAt as Date;
  expect(await schedules.begin('nightly', asked, true)).toBe('begun');
  expect((await schedules.list()).schedules[0]?.requestedAt).toBeNull();
});

it('a run that nobody was heard of for a minute has failed, and rows of last year go', async () => {
  await schedules.add(nightly, 'ada');
  await schedules.noteMissed('nightly', at(1), 'old');
  await runSql(open.url, "UPDATE packhouse.schedule_run SET seen_at = now() - interval '367 days'");
  await schedules.begin('nightly', at(3), true);
  await schedules.sweep();
  expect((await schedules.runs('nightly', { limit: 9 })).map(({ outcome }) => outcome)).toEqual([null]);
  await runSql(open.url, "UPDATE packhouse.schedule_run SET seen_at = now() - interval '61 seconds'");
  await schedules.sweep();
  const [run] = await schedules.runs('nightly', { limit: 9 });
  expect(run).toMatchObject({ outcome: 'failed', message: 'The packer that ran it ended without a word.' });
});

it("makes a setting's schedules what the setting says, and touches no others", async () => {
  const hourly: NewSchedule = {
    ...nightly,
    name: 'audit',
    cron: null,
    zone: null,
    everyMs: 3_600_000,
    setting: 'AUDIT_EVERY',
  };
  await schedules.add(nightly, 'ada');
  await schedules.keepOfSetting('AUDIT_EVERY', [hourly]);
  const { since } = (await schedules.list()).schedules[0] as { since: Date };
  await schedules.keepOfSetting('AUDIT_EVERY', [{ ...hourly, everyMs: 5_000 }]);
  expect((await schedules.list()).schedules).toMatchObject([
    { name: 'audit', everyMs: 5_000, since },
    { name: 'nightly' },
  ]);
  await schedules.keepOfSetting('AUDIT_EVERY', []);
  expect((await schedules.list()).schedules).toMatchObject([{ name: 'nightly' }]);
  await schedules.keepOfSetting('AUDIT_EVERY', [{ ...hourly, name: 'nightly' }]);
  expect((await schedules.list()).schedules).toMatchObject([{ setting: null, cron: '0 3 * * *' }]);
});
