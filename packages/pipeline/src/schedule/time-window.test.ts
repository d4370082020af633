import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOpeningHours, parseTimeWindow } from './time-window.js';

/** Of windows, at an instant of UTC: `open` or `closed`, and until when. */
function at(instant: string, ...windows: string[]): string {
  const { open, until } = createOpeningHours().at(windows, Date.parse(`${instant}Z`));
  return `${open ? 'open' : 'closed'} until ${until === null ? 'ever' : new Date(until).toISOString().slice(0, 16)}`;
}

describe('a window', () => {
  // 2026-11-22 is a Sunday.
  test.each([
    ['2026-11-23T19:00', ['Mon-Fri 20:00-06:00 Europe/Berlin'], 'open until 2026-11-24T05:00'],
    ['2026-11-23T18:59', ['Mon-Fri 20:00-06:00 Europe/Berlin'], 'closed until 2026-11-23T19:00'],
    // Over midnight it belongs to the day on which it began.
    ['2026-11-28T04:59', ['Mon-Fri 20:00-06:00 Europe/Berlin'], 'open until 2026-11-28T05:00'],
    ['2026-11-28T05:00', ['Mon-Fri 20:00-06:00 Europe/Berlin'], 'closed until 2026-11-30T19:00'],
    ['2026-11-23T03:00', ['Mon-Fri 20:00-06:00 Europe/Berlin'], 'closed until 2026-11-23T19:00'],
    ['2026-11-21T12:00', ['Sat,Sun'], 'open until 2026-11-23T00:00'],
    ['2026-11-20T12:00', ['sat-mon UTC'], 'closed until 2026-11-21T00:00'],
    ['2026-11-22T12:00', ['Sat-Mon'], 'open until 2026-11-24T00:00'],
    ['2026-11-22T23:30', ['22:00-24:00'], 'open until 2026-11-23T00:00'],
    // Several are open if one of them is.
    ['2026-11-27T23:00', ['Mon-Fri 20:00-06:00', 'Sat,Sun'], 'open until 2026-11-30T00:00'],
    ['2026-11-22T12:00', ['00:00-12:30', '12:30-00:00'], 'open until ever'],
    ['2026-11-22T12:00', ['Mon-Sun Asia/Kathmandu'], 'open until ever'],
    ['2026-11-22T12:00', [], 'open until ever'],
  ])('at %s, %j is %s', (instant, windows, expected) => {
    expect(at(instant, ...windows)).toBe(expected);
  });

  test.each([
    // Berlin, 2026-03-29: 02:00 to 03:00 is skipped at 01:00 UTC.
    ['2026-03-29T00:00', ['02:10-02:50 Europe/Berlin'], 'closed until 2026-03-30T00:10'],
    ['2026-03-28T23:30', ['Sun 02:10-02:50 Europe/Berlin'], 'closed until 2026-04-05T00:10'],
    ['2026-03-22T02:00', ['Sun 02:10-02:50 Europe/Berlin'], 'closed until 2026-04-05T00:10'],
    ['2026-03-29T00:30', ['02:30-04:00 Europe/Berlin'], 'closed until 2026-03-29T01:00'],
    ['2026-03-29T01:00', ['02:30-04:00 Europe/Berlin'], 'open until 2026-03-29T02:00'],
    ['2026-03-28T23:00', ['23:00-05:00 Europe/Berlin'], 'open until 2026-03-29T03:00'],
    // Berlin, 2026-10-25: 02:00 to 03:00 is there twice, from 00:00 and from 01:00 UTC.
    ['2026-10-25T00:00', ['02:00-03:00 Europe/Berlin'], 'open until 2026-10-25T02:00'],
    ['2026-10-25T01:10', ['02:30-04:00 Europe/Berlin'], 'open until 2026-10-25T03:00'],
    ['2026-10-24T22:30', ['00:00-02:30 Europe/Berlin'], 'open until 2026-10-25T01:30'],
    // New York, 2026-03-08 and 2026-11-01, at 07:00 and 06:00 UTC.
    ['2026-03-08T05:00', ['01:30-02:30 America/New_York'], 'closed until 2026-03-08T06:30'],
    ['2026-03-08T06:30', ['01:30-02:30 America/New_York'], 'open until 2026-03-08T07:00'],
    ['2026-11-01T05:00', ['Sun 00:30-01:30 America/New_York'], 'open until 2026-11-01T06:30'],
    // Lord Howe, 2026-10-04: half an hour from 02:00 is skipped at 15:30 UTC of the day before.
    ['2026-10-03T15:00', ['02:00-02:30 Australia/Lord_Howe'], 'closed until 2026-10-04T15:00'],
    ['2026-10-03T15:29', ['02:15-03:00 Australia/Lord_Howe'], 'closed until 2026-10-03T15:30'],
    // 2026-04-05: 01:30 to 02:00 is there twice, from 14:30 and from 15:00 UTC of the day before.
    ['2026-04-04T14:45', ['01:30-02:00 Australia/Lord_Howe'], 'open until 2026-04-04T15:30'],
    // Apia had no Friday, 2011-12-30: Thursday ends at 10:00 UTC with the begin of Saturday.
    ['2011-12-29T12:00', ['Fri Pacific/Apia'], 'closed until 2012-01-05T10:00'],
    ['2011-12-30T11:00', ['Fri 20:00-06:00 Pacific/Apia'], 'closed until 2012-01-06T06:00'],
    ['2011-12-29T12:00', ['Thu-Sat Pacific/Apia'], 'open until 2011-12-31T10:00'],
    ['2011-12-30T07:00', ['Thu 20:00-06:00 Pacific/Apia'], 'open until 2011-12-30T10:00'],
  ])('where a clock is changed, at %s, %j is %s', (instant, windows, expected) => {
    expect(at(instant, ...windows)).toBe(expected);
  });

  test('is what the clock on the wall says, where no clock is changed', () => {
    const zones = ['UTC', 'Asia/Kathmandu', 'America/Phoenix', 'Pacific/Kiritimati'];
    const minute = fc.integer({ min: 0, max: 1_439 });
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 6 }),
        fc.uniqueArray(minute, { minLength: 2, maxLength: 2 }),
        fc.integer({ min: 0, max: 20_160 }),
        (zone, day, [start, end], after) => {
          const two = (n: number): string => String(n).padStart(2, '0');
          const time = (n: number): string => `${two(Math.floor(n / 60))}:${two(n % 60)}`;
          const name = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][day];
          const text = `${name} ${time(start as number)}-${time(end as number)} ${zone}`;
          const window = parseTimeWindow(text);
          const hours = createOpeningHours();
          const now = Date.UTC(2026, 10, 1) + after * 60_000;
          const wall = new Date(window.zone.localAt(now));
          const minutes = wall.getUTCHours() * 60 + wall.getUTCMinutes();
          const [from, to] = [start as number, end as number];
          const today = wall.getUTCDay() === day && minutes >= from && (from > to || minutes < to);
          const tonight = from > to && wall.getUTCDay() === (day + 1) % 7 && minutes < to;
          const { open, until } = hours.at([text], now);
          expect(open).toBe(today || tonight);
          expect(hours.at([text], until as number).open).toBe(!open);
          expect(hours.at([text], (until as number) - 1).open).toBe(open);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('is looked at again when it changes, and when a clock is set back', () => {
    const hours = createOpeningHours();
    const open = (instant: string): boolean =>
      hours.at(['08:00-09:00'], Date.parse(`2026-11-22T${instant}Z`)).open;
    expect(['08:30', '08:59', '09:00', '08:30', '07:59', '08:00'].map(open)).toEqual([
      true,
      true,
      false,
      true,
      false,
      true,
    ]);
  });

  test('that cannot be read is closed', () => {
    expect(createOpeningHours().at(['Mon', 'now and then'], 0)).toEqual({ open: false, until: null });
  });

  test('is kept with its zone', () => {
    expect(parseTimeWindow('  Sat,Sun ').text).toBe('Sat,Sun UTC');
    expect(parseTimeWindow('Mon-Fri  20:00-06:00 Europe/Berlin').text).toBe(
      'Mon-Fri 20:00-06:00 Europe/Berlin',
    );
  });

  test.each([
    ['', /is not days, times and a zone/],
    ['UTC', /is not days, times and a zone/],
    ['Europe/Berlin', /is not days, times and a zone/],
    ['Mon 08:00-09:00 UTC now', /is not days, times and a zone/],
    ['08:00-08:00', /never opens; for the whole day leave the times out/],
    ['00:00-00:00', /never opens/],
    ['Mon 08:00-09:00 Europe/Berln', /no time zone "Europe\/Berln"/],
    ['08:00-09:00 +02:00', /no time zone "\+02:00"/],
    ['Mon-Fry', /"Mon-Fry" is neither a day/],
    ['Mon,', /"" is neither a day/],
    ['Mon-Tue-Wed', /"Mon-Tue-Wed" is neither a day/],
    ['Mon 8:00-9:00', /"8:00-9:00" is no range of times/],
    ['24:00-25:00', /"24:00-25:00" is no range of times/],
    ['08:00-24:30', /"08:00-24:30" is no range of times/],
    ['none', /no time zone|is not days/],
  ])('%j is refused', (text, why) => {
    expect(() => parseTimeWindow(text)).toThrow(why);
    expect(() => parseTimeWindow(text)).toThrow(expect.objectContaining({ code: 'WINDOW_INVALID' }));
  });
});
