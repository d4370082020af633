import { type Budget, type Database, formatDay, parseSince } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { formatBytes, formatCount } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';

interface Options {
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
    rowsOf: (database: Database, since: number, until: number) => Promise<Row[]>,
    heads: readonly (keyof Row)[],
  ): void => {
    usage
      .command(name)
      .description(description)
      .option('--since <date>', 'first day (UTC), e.g. 2026-11-01, or so many days, e.g. 30d', '7d')
      .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
      .option('--json', 'print one JSON object a line')
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
        const rows = await withDatabase(io, options, (database) => rowsOf(database, since, until));
        if (options.json) for (const row of rows) await print(io, row);
        else if (rows.length === 0) await print(io, `Nothing was asked of nodes since ${formatDay(since)}.`);
        else await print(io, usageTable(rows, heads));
      });
  };
  add('upstreams', 'requests, units and bytes of each upstream by method, and what they cost', ofUpstreams, [
    'provider',
    'network',
    'upstream',
    'method',
  ]);
  add('owners', 'requests, units and bytes of each owner by day', ofOwners, ['day', 'owner']);
}

interface Row {
  provider?: string;
  network?: string;
  upstream?: string;
  method?: string;
  day?: string;
  owner?: string;
  requests: number;
  units: number;
  bytes: number;
  /** By the price of the provider's budget; absent: it has none. */
  cost?: string;
}

async function ofUpstreams(database: Database, since: number, until: number): Promise<Row[]> {
  const budgets = new Map((await database.budgets.list()).map((budget) => [budget.provider, budget]));
  const rows = await database.spending.upstreams(since, until);
  return rows.map((row) => ({ ...row, ...costOf(row.units, budgets.get(row.provider)) }));
}

async function ofOwners(database: Database, since: number, until: number): Promise<Row[]> {
  const rows = await database.spending.owners(since, until);
  return rows.map(({ day, ...row }) => ({ day: formatDay(day), ...row }));
}

function costOf(units: number, budget: Budget | undefined): { cost?: string } {
  if (budget === undefined || budget.pricePerMillion === null) return {};
  const amount = ((units / 1e6) * budget.pricePerMillion).toFixed(2);
  return { cost: budget.currency === null ? amount : `${amount} ${budget.currency}` };
}

function usageTable(rows: readonly Row[], heads: readonly (keyof Row)[]): string {
  const total = { requests: 0, units: 0, bytes: 0 };
  for (const row of rows) {
    total.requests += row.requests;
    total.units += row.units;
    total.bytes += row.bytes;
  }
  const priced = rows.some(({ cost }) => cost !== undefined);
  const line = (names: readonly string[], { requests, units, bytes, cost }: Row): string[] => [
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
