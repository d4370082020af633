import type { Terms } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { formatCount } from '../terminal/format.js';
import { parseCount, parseInteger } from '../terminal/parse.js';

/** Terms of a range as the command line takes them. */
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
    .option('--owner <name>', 'whose it is; owners share a network equally (default: default)')
    .option('--weight <n>', 'its share beside others of its priority, 1 to 1000 (default: 1)')
    .option(
      '--window <hours>',
      'fetch it only then, e.g. "Mon-Fri 20:00-06:00 Europe/Berlin", may be repeated; without a zone UTC; none: always',
      (window: string, before: string[] = []) => [...before, window],
    )
    .option(
      '--deadline <date>',
      'when it should be there, e.g. 2026-12-24 (the end of that day in UTC); none',
    )
    .option('--max-requests <n>', 'stop after so many requests to nodes, e.g. 5M; none');
}

/** The terms that are given. Throws USAGE, WINDOW_INVALID. */
export async function parseTerms(options: TermOptions, now: number): Promise<Partial<Terms>> {
  const { priority, owner, weight, window, deadline, maxRequests } = options;
  return {
    ...(priority !== undefined && { priority: parseInteger(priority, '--priority', 1, 1000) }),
    ...(owner !== undefined && { owner: parseOwner(owner) }),
    ...(weight !== undefined && { weight: parseInteger(weight, '--weight', 1, 1000) }),
    ...(window !== undefined && { windows: await parseWindows(window) }),
    ...(deadline !== undefined && { deadline: deadline === 'none' ? null : parseDeadline(deadline, now) }),
    ...(maxRequests !== undefined && {
      maxRequests: maxRequests === 'none' ? null : parseCount(maxRequests, '--max-requests'),
    }),
  };
}

function parseOwner(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name)) return name;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--owner takes 1 to 64 lower-case letters, digits, dots, dashes and underscores, got "${name}".`,
    hint: 'For example --owner analytics.',
  });
}

async function parseWindows(texts: readonly string[]): Promise<string[]> {
  if (texts.includes('none')) {
    if (texts.every((text) => text === 'none')) return [];
    throw new PackhouseError({ code: 'USAGE', message: '--window none goes with no other --window.' });
  }
  const { parseTimeWindow } = await import('@packhouse/pipeline');
  return texts.map((text) => parseTimeWindow(text).text);
}

const DAY_MS = 86_400_000;
/** A day, or a point in time with its offset from UTC. */
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/;

function parseDeadline(text: string, now: number): Date {
  const given = DATE.test(text) ? Date.parse(text) : Number.NaN;
  const day = !text.includes('T');
  // `2026-02-30` would be read as a day of March.
  const real = !Number.isNaN(given) && (!day || new Date(given).toISOString().startsWith(text));
  const at = given + (day ? DAY_MS : 0);
  if (real && at > now) return new Date(at);
  throw new PackhouseError({
    code: 'USAGE',
    message: `--deadline takes a date in the future, got "${text}".`,
    hint: 'For example --deadline 2030-12-24 or --deadline 2030-12-24T18:00Z; without a time it is the end of that day in UTC.',
  });
}

/** The terms that differ from the default, as words: `owner analytics, weight 3`. */
export function describeTerms({ priority, owner, weight, windows, deadline, maxRequests }: Terms): string {
  return [
    `priority ${priority}`,
    ...(owner === 'default' ? [] : [`owner ${owner}`]),
    ...(weight === 1 ? [] : [`weight ${weight}`]),
    ...(windows.length === 0 ? [] : [`within ${windows.join(' or ')}`]),
    ...(deadline === null ? [] : [`by ${deadline.toISOString()}`]),
    ...(maxRequests === null ? [] : [`${formatCount(maxRequests)} requests at most`]),
  ].join(', ');
}

/** What changed: `priority 100 -> 10, weight 3 -> 1`; null: nothing. */
export function describeTermChange(
  before: Readonly<Record<string, unknown>>,
  after: typeof before,
): string | null {
  const changed = Object.keys(after).filter((key) => textOf(before[key]) !== textOf(after[key]));
  if (changed.length === 0) return null;
  return changed
    .map((key) => `${NAMES[key] ?? key} ${textOf(before[key])} -> ${textOf(after[key])}`)
    .join(', ');
}

const NAMES: Readonly<Record<string, string>> = { maxRequests: 'max requests' };

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(' or ');
  return value === null || value === undefined ? 'none' : String(value);
}
