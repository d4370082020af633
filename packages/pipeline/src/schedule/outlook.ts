import { DAY_MS } from '@packhouse/runtime';
import type { OpeningHours } from './time-window.js';

const YEAR_MS = 365 * DAY_MS;
/** What takes longer has no end that could be told. */
const MAX_YEARS = 100;

/** What is left of something, and in which hours it is worked on. */
interface Work {
  hours: OpeningHours;
  windows: readonly string[];
  blocks: number;
  /** Blocks a second of open time; null: unknown. */
  rate: number | null;
}

/** Whether a deadline is kept. Rates are blocks a second of open time. */
export interface DeadlineOutlook {
  deadline: Date;
  /** `closed`: its windows do not open before the deadline; `unknown`: no rate is known. */
  standing: 'kept' | 'late' | 'closed' | 'missed' | 'unknown';
  /** The rate that it takes; null if none is enough. */
  takes: number | null;
}

/** Milliseconds of open time between two instants; of what is beyond a year, by the share of that year. */
export function openTime(hours: OpeningHours, windows: readonly string[], from: number, to: number): number {
  const seenTo = Math.min(to, from + YEAR_MS);
  let open = 0;
  for (let at = from; at < seenTo; ) {
    const opening = hours.at(windows, at);
    const next = Math.min(seenTo, opening.until ?? seenTo);
    if (opening.open) open += next - at;
    at = next;
  }
  return to > seenTo ? (open * (to - from)) / YEAR_MS : open;
}

/** When the work ends if it goes on like that; null if the rate is unknown, its windows stay closed, or it takes a century. */
export function forecastEnd({ hours, windows, blocks, rate }: Work, now: number): Date | null {
  if (blocks === 0) return new Date(now);
  if (rate === null) return null;
  let left = (blocks / rate) * 1_000;
  const yearly = openTime(hours, windows, now, now + YEAR_MS);
  if (yearly === 0) return null;
  // The last of these years is not skipped: it may end within it.
  const years = Math.max(0, Math.ceil(left / yearly) - 1);
  if (years > MAX_YEARS) return null;
  left -= years * yearly;
  for (let at = now + years * YEAR_MS; ; ) {
    const { open, until } = hours.at(windows, at);
    const lasts = (until ?? Number.POSITIVE_INFINITY) - at;
    if (open && left <= lasts) return new Date(at + left);
    if (until === null) return null;
    if (open) left -= lasts;
    at = until;
  }
}

/** Whether the work is done in time at its rate, and what rate it takes. */
export function deadlineOutlook(work: Work, deadline: Date, now: number): DeadlineOutlook {
  const { hours, windows, blocks, rate } = work;
  if (blocks === 0) return { deadline, standing: 'kept', takes: null };
  const open = openTime(hours, windows, now, deadline.getTime()) / 1_000;
  if (deadline.getTime() <= now) return { deadline, standing: 'missed', takes: null };
  if (open === 0) return { deadline, standing: 'closed', takes: null };
  const takes = blocks / open;
  const standing = rate === null ? 'unknown' : rate >= takes ? 'kept' : 'late';
  return { deadline, standing, takes };
}
