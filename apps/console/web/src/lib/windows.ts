import { parseWeekHours, type WeekHours } from '@packhouse/runtime';

/** Days of a week, as windows of backfills name them; a week of the grid begins on Monday. */
export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const HOURS = 24;
const HOUR_MS = 3_600_000;
const WEEK = DAYS.length * HOURS;

/** Whether each hour of a week is open: 168, from Monday 00:00 on. */
type Week = readonly boolean[];

export const CLOSED: Week = Array.from({ length: WEEK }, () => false);

/** Windows of whole hours as a week; null: they have minutes, different zones, or cannot be read here. */
export function toWeek(windows: readonly string[]): { week: Week; zone: string } | null {
  const week = [...CLOSED];
  let zone: string | null = null;
  for (const text of windows) {
    const window = parse(text);
    if (window === null || (zone !== null && zone !== window.zone)) return null;
    zone = window.zone;
    const [start, end] = [window.start / HOUR_MS, window.end / HOUR_MS];
    if (!Number.isInteger(start) || !Number.isInteger(end)) return null;
    for (const day of window.days) {
      const midnight = ((day + 6) % DAYS.length) * HOURS;
      const last = end > start ? end : end + HOURS;
      for (let hour = start; hour < last; hour++) week[(midnight + hour) % WEEK] = true;
    }
  }
  return zone === null ? null : { week, zone };
}

/** null: it is no window. Its zone may be half typed. */
function parse(text: string): WeekHours | null {
  try {
    return parseWeekHours(text, (why) => new Error(why));
  } catch {
    return null;
  }
}

/** A week as windows: `Mon-Fri 20:00-06:00 Europe/Berlin`. None if it is always open, or never. */
export function toWindows(week: Week, zone: string): string[] {
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
  return [...days].map(([times, list]) => `${formatDays(list)} ${times}${zone}`);
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

function formatDays(days: readonly number[]): string {
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
