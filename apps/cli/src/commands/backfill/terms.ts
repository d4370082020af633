import type { Terms } from '@packhouse/operations';
import { DAY_MS, parseDate } from '@packhouse/runtime';
import type { Command } from 'commander';
import { collect } from '../../terminal/command.js';
import { formatCount } from '../../terminal/format.js';
import { orNull, parseCount, usageError } from '../../terminal/parse.js';

/** Terms of a backfill as the command line takes them. */
export interface TermOptions {
  priority?: string;
  owner?: string;
  weight?: string;
  window?: string[];
  deadline?: string;
  maxRequests?: string;
}

/** Adds the options of the terms to a command. */
export function addTermOptions(command: Command): Command {
  return command
    .option('--owner <name>', 'Owner; owners share a network equally (default: default)')
    .option('--weight <n>', 'Share among backfills of the same priority, 1 to 1000 (default: 1)')
    .option(
      '--window <hours>',
      'Time window for fetching, e.g. "Mon-Fri 20:00-06:00 Europe/Berlin", repeatable; UTC without a zone; none: always',
      collect,
    )
    .option('--deadline <date>', 'Deadline, e.g. 2026-12-24 (the end of that day in UTC), or none')
    .option('--max-requests <n>', 'Maximum number of requests to nodes, e.g. 5M, or none');
}

/** The given terms, as operations take them. Throws USAGE. */
export function parseTerms(
  { window, deadline, maxRequests, priority, owner, weight }: TermOptions,
  now: number,
) {
  return {
    priority,
    owner,
    weight,
    windows: window === undefined ? undefined : parseWindows(window),
    deadline: orNull(deadline, (text) => parseDeadline(text, now)),
    maxRequests: orNull(maxRequests, (text) => parseCount(text, '--max-requests')),
  };
}

function parseWindows(texts: string[]): string[] {
  if (!texts.includes('none')) return texts;
  if (texts.every((text) => text === 'none')) return [];
  throw usageError('--window none excludes any other --window.');
}

function parseDeadline(text: string, now: number): string {
  const at = Number(parseDate(text) ?? Number.NaN) + (text.includes('T') ? 0 : DAY_MS);
  if (at > now) return new Date(at).toISOString();
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
