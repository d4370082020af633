import { DAY_MS } from '@packhouse/runtime';

/** `2026-11-22` as days since 1970-01-01; null if it is no date of this form. */
export function parseDay(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const day = Date.parse(`${text}T00:00:00Z`) / DAY_MS;
  // 2026-02-30 is no date, though it is parsed.
  return Number.isNaN(day) || formatDay(day) !== text ? null : day;
}

/** The first of the days that end with `until`: a date, or how many they are, `7d`; null if it is neither. */
export function parseSince(text: string, until: number): number | null {
  return /^[1-9]\d{0,3}d$/.test(text) ? until - Number.parseInt(text, 10) + 1 : parseDay(text);
}

/** Days since 1970-01-01 as `2026-11-22`. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
