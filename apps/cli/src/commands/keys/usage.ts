import type { UsageGroup, UsageSum } from '@packhouse/database';
import { keyUsage } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addPlacedCommand, type Place } from '../../terminal/command.js';
import { formatBytes, formatCount } from '../../terminal/format.js';
import { type CliIo, printRows, table } from '../../terminal/io.js';
import { keyName } from './key-name.js';

interface UsageOptions extends Place {
  application?: string;
  since: string;
  until?: string;
  by?: UsageGroup;
}

/** `packhouse keys usage`. */
export function addKeyUsageCommand(keys: Command, io: CliIo): void {
  addPlacedCommand(
    keys,
    'usage',
    'Show usage of API keys: requests, units, errors and bytes sent',
    'ph_3kTq9ZbX --since 30d --by method',
    '--application analytics --by network',
  )
    .argument('[key]', 'Only this key: prefix, number, or whole key')
    .option('--application <name>', 'Only keys of this application')
    .option('--since <date>', 'First day in UTC, e.g. 2026-11-01, or a number of days, e.g. 30d', '7d')
    .option('--until <date>', 'Last day in UTC (default: today)')
    .option('--by <group>', 'key, day, method or network (default: day for one key or application, else key)')
    .action(async (name: string | undefined, options: UsageOptions) => {
      const { application, since, until } = options;
      const by = options.by ?? (name === undefined && application === undefined ? 'key' : 'day');
      const key = name === undefined ? undefined : keyName(name);
      const found = await operate(io, options, keyUsage, { key, application, by, since, until });
      const rows = found.rows.map(({ name, ...figures }) => ({ [by]: name, ...figures }));
      await printRows(io, options, rows, {
        none: `No usage from ${found.since} to ${found.until}.`,
        show: () => usageTable(found.rows, by),
      });
    });
}

function usageTable(rows: readonly (UsageSum & { application?: string | null })[], by: UsageGroup): string {
  const line = (names: readonly string[], { requests, units, errors, bytes }: Omit<UsageSum, 'name'>) => [
    ...names,
    formatCount(requests),
    formatCount(units),
    formatCount(errors),
    formatBytes(bytes),
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
