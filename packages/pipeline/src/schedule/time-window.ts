import {
  DAY_MS,
  isPackhouseError,
  openZone,
  PackhouseError,
  parseWeekHours,
  type WeekHours,
  type Zone,
} from '@packhouse/runtime';

/**
 * Hours of a week in which something may run, in the time of a zone: `Mon-Fri 20:00-06:00 Europe/Berlin`, `Sat,Sun`.
 *
 * Where the clock is set forward, a time that it skips is the instant of the skip; where it is set back, hours begin at
 * the first of two equal times and end at the last. So a window is open without a break, and a day or hours that a clock
 * skips whole do not open it.
 */
interface TimeWindow extends Omit<WeekHours, 'zone'> {
  zone: Zone;
}

/** Parses a window; without days every day, without times the whole day, without a zone UTC. Throws WINDOW_INVALID. */
export function parseTimeWindow(text: string): TimeWindow {
  const hours = parseWeekHours(text, (why) => invalid(text, why));
  const zone = /^[A-Za-z][\w+/-]*$/.test(hours.zone) ? openZone(hours.zone) : null;
  if (zone === null) throw invalid(text, `there is no time zone "${hours.zone}"`);
  return { ...hours, zone };
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
    const spans = windows.flatMap((window) => [...getSpans(window, at, days)]);
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
function* getSpans(window: TimeWindow, at: number, days: number): Generator<{ start: number; end: number }> {
  const { zone } = window;
  const today = zone.localAt(at);
  const midnight = today - (((today % DAY_MS) + DAY_MS) % DAY_MS);
  for (let day = -2; day <= days; day++) {
    const begin = midnight + day * DAY_MS;
    if (!window.days.has(new Date(begin).getUTCDay())) continue;
    const first = zone.getInstants(begin);
    if (first.skipped && zone.getInstants(begin + DAY_MS - 1).skipped) continue;
    const start = window.start === 0 ? first.first : zone.getInstants(begin + window.start).first;
    const end = zone.getInstants(begin + window.end + (window.end > window.start ? 0 : DAY_MS)).last;
    if (start < end) yield { start, end };
  }
}
