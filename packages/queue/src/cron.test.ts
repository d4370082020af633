import { expect, it } from 'vitest';
import { type Cron, checkCron, lastDues, nextDue } from './cron.js';

const getCron = (pattern: string, zone = 'Europe/Berlin'): Cron => ({ pattern, zone });
const times = (cron: Cron, from: string, to: string): string[] =>
  lastDues(cron, Date.parse(from), Date.parse(to)).dues.map((due) =>
    new Date(due).toISOString().slice(11, 16),
  );

it('a time of day in the gap of daylight saving is due an hour later, on that day alone', () => {
  const night = (pattern: string) => times(getCron(pattern), '2026-03-29T00:00:00Z', '2026-03-29T03:00:00Z');
  expect(night('30 2 * * *')).toEqual(['01:30']); // 03:30 of summer time
  expect(night('0 * * * *')).toEqual(['01:00', '02:00', '03:00']);
  expect(times(getCron('30 2 * * *'), '2026-03-29T12:00:00Z', '2026-03-30T12:00:00Z')).toEqual(['00:30']);
});

it('a time of day that comes twice is due once, and every hour is due in both hours', () => {
  expect(times(getCron('30 2 * * *'), '2026-10-24T22:00:00Z', '2026-10-25T22:00:00Z')).toEqual(['00:30']);
  const hours = ['00:00', '01:00', '02:00'].map((hour) => Date.parse(`2026-10-25T${hour}:00Z`));
  expect(hours.map((hour) => nextDue(getCron('0 * * * *'), hour - 1))).toEqual(hours);
  expect(times(getCron('*/30 * * * *'), '2026-10-25T00:45:00Z', '2026-10-25T01:40:00Z')).toEqual([
    '01:00',
    '01:30',
  ]);
});

it('finds the newest due times of a long absence without going through all of them', () => {
  const after = Date.parse('2020-01-01T00:00:00Z');
  const until = Date.parse('2026-01-01T00:00:30Z');
  expect(lastDues(getCron('* * * * *'), after, until)).toMatchObject({ dues: { length: 60 }, more: true });
  expect(lastDues(getCron('0 0 29 2 *', 'UTC'), after, until)).toEqual({
    dues: [Date.parse('2020-02-29T00:00:00Z'), Date.parse('2024-02-29T00:00:00Z')],
    more: false,
  });
  expect(lastDues(getCron('0 0 29 2 *'), until - 1, until)).toEqual({ dues: [], more: false });
});

it.each([
  ['0 0 3 * * *', 'UTC', /^The cron pattern "0 0 3 \* \* \*" does not have five fields\.$/],
  ['@reboot', 'UTC', /does not have five fields/],
  ['@daily', 'UTC', /does not have five fields/],
  ['', 'UTC', /does not have five fields/],
  ['H 3 * * *', 'UTC', /does not have five fields/],
  ['0 0 30 2 *', 'UTC', /^The cron pattern "0 0 30 2 \*" is never due\.$/],
  ['0 0 31 4,6 *', 'UTC', /is never due/],
  ['99 * * * *', 'UTC', /is wrong: .*0-59/],
  ['0 3 * * *', 'Mars/Olympus', /^There is no time zone "Mars\/Olympus"\.$/],
])('refuses %j in %s', (pattern, zone, message) => {
  expect(() => checkCron({ pattern, zone })).toThrow(
    expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringMatching(message) }),
  );
});

it('takes what fires seldom', () => {
  checkCron({ pattern: '0 0 29 2 *', zone: 'UTC' });
  checkCron({ pattern: ' 0 3 * * MON-FRI ', zone: 'America/New_York' });
});
