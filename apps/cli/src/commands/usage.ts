import { type Operation, ownerSpending, type SpentRow, upstreamSpending } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../terminal/command.js';
import { formatBytes, formatCount } from '../terminal/format.js';
import { type CliIo, printRows, table } from '../terminal/io.js';

/** `packhouse usage upstreams|owners`. */
export function addUsageCommand(program: Command, io: CliIo): void {
  const usage = addCommand(
    program,
    'usage',
    'Show requests to nodes by upstream or owner',
    'upstreams --since 7d',
  );
  const add = (
    name: string,
    description: string,
    operation: Operation<typeof upstreamSpending.input, SpentRow[]>,
    heads: readonly (keyof SpentRow)[],
  ): void => {
    addPlacedCommand(usage, name, description, '--since 30d')
      .option('--since <date>', 'First day in UTC, e.g. 2026-11-01, or a number of days, e.g. 30d', '7d')
      .action(async (options: Place & { since: string }) => {
        const rows = await operate(io, options, operation, { since: options.since });
        await printRows(io, options, rows, {
          none: `No requests to nodes since ${options.since}.`,
          show: () => usageTable(rows, heads),
        });
      });
  };
  add('upstreams', 'Requests, units, bytes and cost per upstream and method', upstreamSpending, [
    'provider',
    'network',
    'upstream',
    'method',
  ]);
  add('owners', 'Requests, units and bytes per owner and day', ownerSpending, ['day', 'owner']);
}

function usageTable(rows: readonly SpentRow[], heads: readonly (keyof SpentRow)[]): string {
  const total = { requests: 0, units: 0, bytes: 0 };
  for (const row of rows) {
    total.requests += row.requests;
    total.units += row.units;
    total.bytes += row.bytes;
  }
  const priced = rows.some(({ cost }) => cost !== undefined);
  const line = (names: readonly string[], { requests, units, bytes, cost }: SpentRow): string[] => [
    ...names,
    formatCount(requests),
    formatCount(units),
    formatBytes(bytes),
    ...(priced ? [cost ?? '-'] : []),
  ];
  return table([
    [
      ...heads.map((head) => head.toUpperCase()),
      'REQUESTS',
      'UNITS',
      'RECEIVED',
      ...(priced ? ['COST'] : []),
    ],
    ...rows.map((row) =>
      line(
        heads.map((head) => String(row[head])),
        row,
      ),
    ),
    line(['total', ...heads.slice(1).map(() => '')], total),
  ]);
}
