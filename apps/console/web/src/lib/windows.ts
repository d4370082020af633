/** Days of a week, as windows of backfills name them; a week of the grid begins on Monday. */
export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const HOURS = 24;
const WEEK = DAYS.length * HOURS;

/** Whether each hour of a week is open: 168, from Monday 00:00 on. */
export type Week = readonly boolean[];

export const CLOSED: Week = Array.from({ length: WEEK }, () => false);

/** Windows of whole hours as a week; null: they have minutes, different zones, or cannot be read here. */
export function weekOf(windows: readonly string[]): { week: Week; zone: string } | null {
  const week = [...CLOSED];
  let zone: string | null = null;
  for (const text of windows) {
    const window = parse(text);
    if (window === null || (zone !== null && zone !== window.zone)) return null;
    zone = window.zone;
    for (const day of window.days) {
      for (let hour = 0; hour < window.hours; hour++) {
        week[(day * HOURS + window.start + hour) % WEEK] = true;
      }
    }
  }
  return zone === null ? null : { week, zone };
}

function parse(text: string): { days: number[]; start: number; hours: number; zone: string } | null {
  const words = text.trim().split(/\s+/);
  const days = /^[a-z]{3}([,-][a-z]{3})*$/i.test(words[0] ?? '') ? daysOf(words[0] as string) : null;
  if (days !== null) words.shift();
  const times = /^([01]\d|2[0-3]):00-([01]\d|2[0-4]):00$/.exec(words[0] ?? '');
  if (times !== null) words.shift();
  if ((days === null && times === null) || words.length > 1 || /^\d/.test(words[0] ?? '')) return null;
  const [start, end] = times === null ? [0, HOURS] : [Number(times[1]), Number(times[2])];
  if (start === end) return null;
  const hours = end > start ? end - start : end + HOURS - start;
  return { days: days ?? DAYS.map((_, day) => day), start, hours, zone: words[0] ?? 'UTC' };
}

/** null: it is no list of days. */
function daysOf(text: string): number[] | null {
  const found: number[] = [];
  for (const part of text.split(',')) {
    const [first, last = first] = part
      .split('-')
      .map((name) => DAYS.findIndex((day) => day.toLowerCase() === name.toLowerCase()));
    if (first === undefined || last === undefined || first < 0 || last < 0) return null;
    for (let day = first; ; day = (day + 1) % DAYS.length) {
      found.push(day);
      if (day === last) break;
    }
  }
  return found;
}

/** A week as windows: `Mon-Fri 20:00-06:00 Europe/Berlin`. None if it is always open, or never. */
export function windowsOf(week: Week, zone: string): string[] {
  if (week.every((open) => open) || !week.some((open) => open)) return [];
  const days = new Map<string, number[]>();
  const add = (day: number, start: number, end: number): void => {
    const time = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
    const times = start === 0 && end === HOURS ? '' : `${time(start)}-${time(end)} `;
    days.set(times, [...(days.get(times) ?? []), day]);
  };
  for (let at = 0; at < WEEK; at++) {
    if (!week[at] || week[(at + WEEK - 1) % WEEK]) continue;
    let length = 1;
    while (week[(at + length) % WEEK]) length++;
    addRun(at, length, add);
  }
  return [...days].map(([times, list]) => `${daysText(list)} ${times}${zone}`);
}

/** Hours in a row: one window if they are of one night, else one up to midnight, whole days, and the rest. */
function addRun(at: number, length: number, add: (day: number, start: number, end: number) => void): void {
  const [day, start] = [Math.floor(at / HOURS), at % HOURS];
  if (start + length <= HOURS) add(day, start, start + length);
  else if (length < HOURS) add(day, start, start + length - HOURS);
  else {
    add(day, start, HOURS);
    addRun((at - start + HOURS) % WEEK, length - (HOURS - start), add);
  }
}

function daysText(days: readonly number[]): string {
  const open = DAYS.map((_, day) => days.includes(day));
  const parts: string[] = [];
  for (let first = 0; first < DAYS.length; first++) {
    if (!open[first]) continue;
    let last = first;
    while (open[last + 1]) last++;
    const names = DAYS.slice(first, last + 1);
    parts.push(names.length > 2 ? `${names[0]}-${names.at(-1)}` : names.join(','));
    first = last;
  }
  return parts.join(',');
}
