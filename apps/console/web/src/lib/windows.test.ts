import { expect, test } from 'vitest';
import { CLOSED, toWeek, toWindows } from './windows.js';

test.each([
  [['Mon-Fri 20:00-06:00 Europe/Berlin']],
  [['Sat,Sun UTC']],
  [['Sun 22:00-03:00 America/New_York']],
  [['Fri 20:00-24:00 UTC', 'Sat,Sun UTC', 'Mon 00:00-06:00 UTC']],
])('%j is a week, and that week is the same windows', (windows) => {
  const { week, zone } = toWeek(windows) ?? { week: CLOSED, zone: '' };
  const again = toWindows(week, zone);
  expect([...again].sort()).toEqual([...windows].sort());
});

test('hours that follow each other over midnight are one window', () => {
  const given = toWeek(['Mon-Wed 00:00-08:00 UTC', 'Mon-Tue 09:00-24:00 UTC']);
  const windows = toWindows(given?.week ?? CLOSED, 'UTC');
  expect(windows).toEqual(['Mon 00:00-08:00 UTC', 'Mon,Tue 09:00-08:00 UTC']);
  expect(toWeek(windows)).toEqual(given);
});

test('a night belongs to the day on which it begins', () => {
  const open = toWeek(['Sun 22:00-03:00'])?.week.flatMap((is, hour) => (is ? [hour] : []));
  expect(open).toEqual([0, 1, 2, 166, 167]);
});

test('a whole day that begins in the evening is written in two parts, as no window ends when it begins', () => {
  const week = CLOSED.map((_, hour) => hour >= 20 && hour < 44);
  expect(toWindows(week, 'UTC')).toEqual(['Mon 20:00-24:00 UTC', 'Tue 00:00-20:00 UTC']);
});

test.each([
  [['Mon 20:30-06:00 UTC']],
  [['Mon UTC', 'Tue Europe/Berlin']],
  [['Mon-Xyz UTC']],
  [['nonsense']],
  [['Mon 10:00-10:00 UTC']],
  [[]],
])('%j is no week of whole hours in one zone', (windows) => {
  expect(toWeek(windows)).toBeNull();
});

test('always open, and never, are no window', () => {
  expect(toWindows(CLOSED, 'UTC')).toEqual([]);
  expect(
    toWindows(
      CLOSED.map(() => true),
      'UTC',
    ),
  ).toEqual([]);
});
