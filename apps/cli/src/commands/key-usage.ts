import {
  formatDay,
  parseDay,
  parseSince,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageSum,
} from '@packhouse/database';
import { keyUsage } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { formatBytes, formatCount } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { withPlace } from '../terminal/place.js';
import { keyName } from './key-name.js';

interface UsageOptions {
  app?: string;
  since: string;
  until?: string;
  by?: string;
  server?: string;
  json?: boolean;
  dataDir?: string;
}

const DAY_MS = 86_400_000;

/** `packhouse keys usage`. */
export function addKeyUsageCommand(keys: Command, io: CliIo): void {
  withPlace(keys.command('usage'))
    .description('show what keys used: requests, units, errors and bytes sent')
    .argument('[key]', 'only this key, by its public prefix, its number, or whole')
    .option('--app <name>', 'only the keys of this application')
    .option('--since <date>', 'first day (UTC), e.g. 2026-11-01, or so many days, e.g. 30d', '7d')
    .option('--until <date>', 'last day (UTC); default: today')
    .option('--by <group>', 'key, day, method or network (default: day for one key or application, else key)')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse keys usage ph_3kTq9ZbX --since 30d --by method\n  $ packhouse keys usage --app analytics --by network',
    )
    .action(async (name: string | undefined, options: UsageOptions) => {
      const days = daysOf(options, Math.floor(Date.now() / DAY_MS));
      const by = groupOf(options.by ?? (name === undefined && options.app === undefined ? 'key' : 'day'));
      const { rows } = await operate(io, options, keyUsage, {
        ...{ key: name === undefined ? undefined : keyName(name), application: options.app, by },
        ...{ since: formatDay(days.since), until: formatDay(days.until) },
      });
      const named = rows.map(({ name, ...figures }) => ({ [by]: name, ...figures }));
      if (options.json) for (const row of named) await print(io, row);
      else if (rows.length === 0) {
        await print(io, `Nothing was used from ${formatDay(days.since)} to ${formatDay(days.until)}.`);
      } else await print(io, usageTable(rows, by));
    });
}

function daysOf({ since, until }: UsageOptions, today: number): { since: number; until: number } {
  const last = until === undefined ? today : parseDay(until);
  if (last === null) throw noDay('--until', until as string, 'For example --until 2026-11-22.');
  const first = parseSince(since, last);
  if (first === null) throw noDay('--since', since, 'For example --since 2026-11-01 or --since 30d.');
  if (first <= last) return { since: first, until: last };
  throw new PackhouseError({
    code: 'USAGE',
    message: `--since is ${formatDay(first)}, after the last day, which is ${formatDay(last)}.`,
  });
}

function noDay(option: string, text: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message: `${option} takes a day, got "${text}".`, hint });
}

function groupOf(text: string): UsageGroup {
  const group = USAGE_GROUPS.find((each) => each === text);
  if (group !== undefined) return group;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--by takes ${USAGE_GROUPS.join(', ')}, got "${text}".`,
  });
}

function usageTable(rows: readonly (UsageSum & { application?: string | null })[], by: UsageGroup): string {
  const line = (names: readonly string[], { requests, units, errors, bytes }: Omit<UsageSum, 'name'>) => [
    ...names,
    ...[formatCount(requests), formatCount(units), formatCount(errors), formatBytes(bytes)],
  ];
  const total = { requests: 0, units: 0, errors: 0, bytes: 0 };
  for (const row of rows) {
    total.requests += row.requests;
    total.units += row.units;
    total.errors += row.errors;
    total.bytes += row.bytes;
  }
  const ofKey = by === 'key';
  return table([
    [by.toUpperCase(), ...(ofKey ? ['APPLICATION'] : []), 'REQUESTS', 'UNITS', 'ERRORS', 'SENT'],
    ...rows.map((row) => line([row.name, ...(ofKey ? [row.application ?? '-'] : [])], row)),
    line(['total', ...(ofKey ? [''] : [])], total),
  ]);
}
