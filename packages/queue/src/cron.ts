import { DAY_MS, openZone, PackhouseError } from '@packhouse/runtime';
import { CronExpressionParser } from 'cron-parser';

/**
 * When work is due: five fields of cron in an IANA zone.
 *
 * Times are those of cron-parser, which BullMQ uses. Where clocks go forward, a time of day that does not exist is due
 * as much later as the clocks jumped (02:30 at 03:30). Where they go back, a time of day that comes twice is due the
 * first time only, and patterns of every hour or every minute go on through both hours.
 */
export interface Cron {
  pattern: string;
  zone: string;
}

const HOUR_MS = 3_600_000;
/** Where there are too many due times, those of the first of these spans that has any. */
const SPANS_MS = [HOUR_MS, DAY_MS, 32 * DAY_MS, 400 * DAY_MS];
/** Most due times that are looked for at once: some 50 ms of work. */
const MOST = 1_000;

/** Checks a pattern and its zone; throws SCHEDULE_INVALID. */
export function checkCron(cron: Cron): void {
  const { pattern, zone } = cron;
  const fields = pattern.trim().split(/\s+/);
  if (fields.length !== 5 || pattern.includes('@') || /\bH/i.test(pattern)) {
    throw invalid(
      `The cron pattern "${pattern.slice(0, 64)}" does not have five fields`,
      'It has minute, hour, day of the month, month and day of the week, e.g. "0 3 * * *"; there are no seconds and no @reboot.',
    );
  }
  if (openZone(zone) === null) {
    throw invalid(`There is no time zone "${zone.slice(0, 64)}"`, 'For example UTC or Europe/Berlin.');
  }
  try {
    nextDue(cron, 0);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const never = /loop limit|explicit day of month/.test(reason);
    throw invalid(
      `The cron pattern "${pattern.slice(0, 64)}" ${never ? 'is never due' : `is wrong: ${reason}`}`,
      never
        ? 'No month of it has that day.'
        : 'It has minute, hour, day of the month, month and day of the week, e.g. "0 3 * * 1-5".',
    );
  }
}

/** The first due time after a time, in milliseconds since 1970. */
export function nextDue(cron: Cron, after: number): number {
  return toTimes(cron, after).next().getTime();
}

/**
 * The due times after `after` and up to `until`, oldest first. If they are more than a thousand, the newest ones: those
 * of the last hour, or where that has none, of the last day, and so on; `more` is true then.
 */
export function lastDues(cron: Cron, after: number, until: number): { dues: number[]; more: boolean } {
  const all = duesBetween(cron, after, until);
  if (all.length < MOST) return { dues: all, more: false };
  for (const span of SPANS_MS) {
    const dues = duesBetween(cron, Math.max(after, until - span), until);
    if (dues.length > 0) return { dues, more: true };
  }
  return { dues: all, more: true };
}

function duesBetween(cron: Cron, after: number, until: number): number[] {
  const times = toTimes(cron, after);
  const dues: number[] = [];
  for (let due = times.next().getTime(); due <= until && dues.length < MOST; due = times.next().getTime()) {
    dues.push(due);
  }
  return dues;
}

function toTimes({ pattern, zone }: Cron, after: number) {
  return CronExpressionParser.parse(pattern.trim(), { tz: zone, currentDate: new Date(after) });
}

function invalid(what: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'SCHEDULE_INVALID', message: `${what}.`, hint });
}
