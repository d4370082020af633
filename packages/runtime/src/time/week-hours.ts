/** Hours of days of a week; hours over midnight belong to the day on which they begin. */
export interface WeekHours {
  /** 0 is Sunday. */
  days: ReadonlySet<number>;
  /** Milliseconds after the day's begin; an `end` up to `start` is of the next day. */
  start: number;
  end: number;
  /** The name of a time zone; whether there is one of this name is not checked. */
  zone: string;
  /** As it is stored: with its zone. */
  text: string;
}

/** Makes the error of what is wrong. */
type Refuse = (why: string) => Error;

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const HOUR_MS = 3_600_000;

/**
 * Parses `Mon-Fri 20:00-06:00 Europe/Berlin` or `Sat,Sun`; without days every day, without times the whole day, without a
 * zone UTC. It needs nothing of Node, as the pages of the console parse with it too.
 */
export function parseWeekHours(text: string, refuse: Refuse): WeekHours {
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
    throw refuse('it is not days, times and a zone');
  const [start, end] = toTimes(given.times, refuse);
  if (start === end)
    throw refuse('it ends when it begins, so that it never opens; for the whole day leave the times out');
  const written = [given.days, given.times, given.zone].filter((word) => word !== undefined).join(' ');
  return { days: toDays(given.days, refuse), start, end, zone: given.zone, text: written };
}

function toDays(given = 'Mon-Sun', refuse: Refuse): Set<number> {
  const days = new Set<number>();
  for (const part of given.split(',')) {
    const [first, last = first, ...more] = part.split('-').map((name) => DAYS.indexOf(name.toLowerCase()));
    if (first === undefined || first < 0 || last === undefined || last < 0 || more.length > 0)
      throw refuse(`"${part}" is neither a day nor a range of days`);
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return days;
}

function toTimes(given = '00:00-24:00', refuse: Refuse): [start: number, end: number] {
  const parts = /^([01]\d|2[0-3]):([0-5]\d)-(?:(24):(00)|([01]\d|2[0-3]):([0-5]\d))$/.exec(given);
  if (parts === null) throw refuse(`"${given}" is no range of times`);
  const [hours, minutes, ...ends] = parts
    .slice(1)
    .filter((part) => part !== undefined)
    .map(Number) as number[];
  const at = (hour = 0, minute = 0): number => hour * HOUR_MS + minute * 60_000;
  return [at(hours, minutes), at(...ends)];
}
