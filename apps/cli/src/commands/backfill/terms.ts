import type { Terms } from '@packhouse/operations';
import { DAY_MS, parseDate, systemClock } from '@packhouse/runtime';
import { formatCount } from '../../terminal/format.js';
import { parseCount, usageError } from '../../terminal/parse.js';

/** The terms of a backfill as options. */
export const TERMS = {
  owner: ['--owner <name>', 'Owner; owners share a network equally (default: default)'],
  weight: ['--weight <n>', 'Share among backfills of the same priority, 1 to 1000 (default: 1)'],
  windows: [
    '--window <hours>',
    'Time window for fetching, e.g. "Mon-Fri 20:00-06:00 Europe/Berlin", repeatable; UTC without a zone; none: always',
    { read: parseWindows },
  ],
  deadline: [
    '--deadline <date>',
    'Deadline, e.g. 2026-12-24 (the end of that day in UTC), or none',
    { read: parseDeadline },
  ],
  maxRequests: [
    '--max-requests <n>',
    'Maximum number of requests to nodes, e.g. 5M, or none',
    { read: parseCount },
  ],
} as const;

function parseWindows(texts: string[]): string[] {
  if (!texts.includes('none')) return texts;
  if (texts.every((text) => text === 'none')) return [];
  throw usageError('--window none excludes any other --window.');
}

function parseDeadline(text: string): string {
  const at = Number(parseDate(text) ?? Number.NaN) + (text.includes('T') ? 0 : DAY_MS);
  if (at > systemClock.now()) return new Date(at).toISOString();
  throw usageError(
    `--deadline takes a date in the future, got "${text}".`,
    'For example --deadline 2030-12-24 (the end of that day in UTC) or --deadline 2030-12-24T18:00Z.',
  );
}

/** The terms that differ from the defaults: `owner analytics, weight 3`. */
export function describeTerms({ priority, owner, weight, windows, deadline, maxRequests }: Terms): string {
  return [
    `priority ${priority}`,
    ...(owner === 'default' ? [] : [`owner ${owner}`]),
    ...(weight === 1 ? [] : [`weight ${weight}`]),
    ...(windows.length === 0 ? [] : [`within ${windows.join(' or ')}`]),
    ...(deadline === null ? [] : [`deadline ${deadline.toISOString()}`]),
    ...(maxRequests === null ? [] : [`at most ${formatCount(maxRequests)} requests`]),
  ].join(', ');
}

/** What changed: `priority 100 -> 10, weight 3 -> 1`; null: nothing. */
export function describeTermChange(
  before: Readonly<Record<string, unknown>>,
  after: typeof before,
): string | null {
  const changed = Object.keys(after).filter((key) => toText(before[key]) !== toText(after[key]));
  if (changed.length === 0) return null;
  return changed
    .map((key) => `${NAMES[key] ?? key} ${toText(before[key])} -> ${toText(after[key])}`)
    .join(', ');
}

const NAMES: Readonly<Record<string, string>> = { maxRequests: 'max requests' };

function toText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(' or ');
  return value === null || value === undefined ? 'none' : String(value);
}
