import { formatDay, parseSince } from '@packhouse/database';
import { ownerSpending, type SpentRow, upstreamSpending } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { formatBytes, formatCount } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { withPlace } from '../terminal/place.js';

interface Options {
  server?: string;
  since: string;
  json?: boolean;
  dataDir?: string;
}

const DAY_MS = 86_400_000;

/** `packhouse usage upstreams|owners`. */
export function addUsageCommand(program: Command, io: CliIo): void {
  const usage = program
    .command('usage')
    .description('what was asked of nodes, and for whom')
    .addHelpText('after', '\nExample:\n  $ packhouse usage upstreams --since 7d');
  const add = (
    name: string,
    description: string,
    operation: typeof upstreamSpending,
    heads: readonly (keyof SpentRow)[],
  ): void => {
    withPlace(usage.command(name))
      .description(description)
      .option('--since <date>', 'first day (UTC), e.g. 2026-11-01, or so many days, e.g. 30d', '7d')
      .addHelpText('after', `\nExample:\n  $ packhouse usage ${name} --since 30d`)
      .action(async (options: Options) => {
        const until = Math.floor(Date.now() / DAY_MS);
        const since = parseSince(options.since, until);
        if (since === null || since > until) {
          throw new PackhouseError({
            code: 'USAGE',
            message: `--since takes a day up to today, got "${options.since}".`,
            hint: 'For example --since 2026-11-01 or --since 30d.',
          });
        }
        const rows = await operate(io, options, operation, { since: formatDay(since) });
        if (options.json) for (const row of rows) await print(io, row);
        else if (rows.length === 0) await print(io, `Nothing was asked of nodes since ${formatDay(since)}.`);
        else await print(io, usageTable(rows, heads));
      });
  };
  add(
    'upstreams',
    'requests, units and bytes of each upstream by method, and what they cost',
    upstreamSpending,
    ['provider', 'network', 'upstream', 'method'],
  );
  add('owners', 'requests, units and bytes of each owner by day', ownerSpending, ['day', 'owner']);
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
    ...[formatCount(requests), formatCount(units), formatBytes(bytes)],
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
