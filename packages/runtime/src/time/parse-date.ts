const DATE = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads `2026-11-22`, which is its midnight in UTC, or `2026-11-22T18:00+01:00`; null for anything else. A time without
 * its offset would depend on the zone of the machine.
 */
export function parseDate(text: string): Date | null {
  const day = DATE.exec(text)?.[1];
  const midnight = new Date(`${day}T00:00Z`);
  // 30 February would be read as a day of March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(`${day}`)) return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}
