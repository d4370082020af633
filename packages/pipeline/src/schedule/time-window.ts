import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { openZone, type Zone } from './local-time.js';

/**
 * Hours of a week in which something may run, in the time of a zone: `Mon-Fri 20:00-06:00 Europe/Berlin`, `Sat,Sun`.
 *
 * Hours over midnight belong to the day on which they begin. Where the clock is set forward, a time that it skips is
 * the instant of the skip; where it is set back, hours begin at the first of two equal times and end at the last. So a
 * window is open without a break, and a day or hours that a clock skips whole do not open it.
 */
interface TimeWindow {
  /** With its zone, as it is stored. */
  text: string;
  zone: Zone;
  /** 0 is Sunday. */
  days: ReadonlySet<number>;
  /** Milliseconds after the day's begin; an `end` up to `start` is of the next day. */
  start: number;
  end: number;
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Parses a window; without days every day, without times the whole day, without a zone UTC. Throws WINDOW_INVALID. */
export function parseTimeWindow(text: string): TimeWindow {
  const words = text.trim().split(/\s+/);
  const given = {
    days:
      /^[A-Za-z]{3}([,-]|$)/.test(words[0] ?? '') && !/^UTC$/i.test(words[0] ?? '')
        ? words.shift()
        : undefined,
    times: /^\d/.test(words[0] ?? '') ? words.shift() : undefined,
    zone: words.shift() ?? 'UTC',
  };
  if ((given.days === undefined && given.times === undefined) || words.length > 0)
    throw invalid(text, 'it is not days, times and a zone');
  const zone = /^[A-Za-z][\w+/-]*$/.test(given.zone) ? openZone(given.zone) : null;
  if (zone === null) throw invalid(text, `there is no time zone "${given.zone}"`);
  const [start, end] = timesOf(text, given.times);
  if (start === end) {
    throw invalid(
      text,
      'it ends when it begins, so that it never opens; for the whole day leave the times out',
    );
  }
  const written = [given.days, given.times, given.zone].filter((word) => word !== undefined).join(' ');
  return { text: written, zone, days: daysOf(text, given.days), start, end };
}

function daysOf(text: string, given = 'Mon-Sun'): Set<number> {
  const days = new Set<number>();
  for (const part of given.split(',')) {
    const [first, last = first, ...more] = part.split('-').map((name) => DAYS.indexOf(name.toLowerCase()));
    if (first === undefined || first < 0 || last === undefined || last < 0 || more.length > 0)
      throw invalid(text, `"${part}" is neither a day nor a range of days`);
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return days;
}

function timesOf(text: string, given = '00:00-24:00'): [start: number, end: number] {
  const parts = /^([01]\d|2[0-3]):([0-5]\d)-(?:(24):(00)|([01]\d|2[0-3]):([0-5]\d))$/.exec(given);
  if (parts === null) throw invalid(text, `"${given}" is no range of times`);
  const [hours, minutes, ...ends] = parts
    .slice(1)
    .filter((part) => part !== undefined)
    .map(Number) as number[];
  const at = (hour = 0, minute = 0): number => hour * HOUR_MS + minute * 60_000;
  return [at(hours, minutes), at(...ends)];
}

function invalid(text: string, why: string): PackhouseError {
  return new PackhouseError({
    code: 'WINDOW_INVALID',
    message: `The window "${text}" cannot be used: ${why}.`,
    hint: 'For example "Mon-Fri 20:00-06:00 Europe/Berlin", "Sat,Sun" or "22:00-24:00 UTC".',
    data: { window: text },
  });
}

/** Whether windows are open at an instant, and until when that stays so; null: for ever. */
interface Opening {
  open: boolean;
  until: number | null;
}

/** Windows by their texts, with what is known of them: they are read and looked at once for each change. */
export interface OpeningHours {
  /** Closed for ever if one of them cannot be read. */
  at(windows: readonly string[], now: number): Opening;
}

/** Creates opening hours of which none was looked at. */
export function createOpeningHours(): OpeningHours {
  const known = new Map<string, { windows: TimeWindow[] | null; since: number; opening: Opening }>();
  return {
    at(texts, now) {
      if (texts.length === 0) return { open: true, until: null };
      const key = texts.join('\n');
      const last = known.get(key);
      // A clock may also be set back.
      if (last !== undefined && now >= last.since && now < (last.opening.until ?? Number.POSITIVE_INFINITY))
        return last.opening;
      const windows = last === undefined ? readable(texts) : last.windows;
      const opening = windows === null ? { open: false, until: null } : openAt(windows, now);
      known.set(key, { windows, since: now, opening });
      return opening;
    },
  };
}

/** null: one of them is of a newer version, or of a zone that this machine does not know. */
function readable(texts: readonly string[]): TimeWindow[] | null {
  try {
    return texts.map(parseTimeWindow);
  } catch (error) {
    if (isPackhouseError(error, 'WINDOW_INVALID')) return null;
    throw error;
  }
}

/** Whether one of the windows is open, and until when that stays so; null: for ever. Without windows always. */
function openAt(windows: readonly TimeWindow[], at: number): Opening {
  if (windows.length === 0) return { open: true, until: null };
  // Most change within two days; the rarest, an hour of one day a week that a clock skips, within two weeks.
  for (const days of [2, 16]) {
    const spans = windows.flatMap((window) => [...spansOf(window, at, days)]);
    let until = at;
    for (let grown = true; grown; ) {
      const reached = spans.filter(({ start, end }) => start <= until && end > until).map(({ end }) => end);
      grown = reached.length > 0;
      until = Math.max(until, ...reached);
    }
    const next = Math.min(...spans.map(({ start }) => start).filter((start) => start > at));
    const [open, change] = until > at ? [true, until] : [false, next];
    // What begins later may touch what is last seen.
    if (change < at + (days - 1) * DAY_MS) return { open, until: change };
  }
  return { open: true, until: null };
}

/** When a window is open, from two days before an instant to some days after it. */
function* spansOf(window: TimeWindow, at: number, days: number): Generator<{ start: number; end: number }> {
  const { zone } = window;
  const today = zone.localAt(at);
  const midnight = today - (((today % DAY_MS) + DAY_MS) % DAY_MS);
  for (let day = -2; day <= days; day++) {
    const begin = midnight + day * DAY_MS;
    if (!window.days.has(new Date(begin).getUTCDay())) continue;
    const first = zone.instantsOf(begin);
    if (first.skipped && zone.instantsOf(begin + DAY_MS - 1).skipped) continue;
    const start = window.start === 0 ? first.first : zone.instantsOf(begin + window.start).first;
    const end = zone.instantsOf(begin + window.end + (window.end > window.start ? 0 : DAY_MS)).last;
    if (start < end) yield { start, end };
  }
}
