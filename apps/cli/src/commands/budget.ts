import type { Budget, Database } from '@packhouse/database';
import { isKnownMethod } from '@packhouse/networks';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withBudgets, withDatabase } from '../installation/connect.js';
import { operatorName } from '../installation/operator.js';
import { type CliIo, print } from '../terminal/io.js';
import { parseCount, parseInteger } from '../terminal/parse.js';
import { budgetTable, sharedHosts, standingOf } from './budget-table.js';

interface SetOptions {
  perSecond?: string;
  perDay?: string;
  perMonth?: string;
  unit?: string;
  weights?: string;
  reserve?: string;
  price?: string;
  currency?: string;
  json?: boolean;
  dataDir?: string;
}

const PROVIDER = /^[A-Za-z0-9:][A-Za-z0-9._:-]{0,252}$/;
const MAX_RESERVE = 90;
const MAX_WEIGHT = 1_000_000;
const MAX_PER_SECOND = 1_000_000_000;

/** `packhouse budget list|set|remove`. */
export function addBudgetCommand(program: Command, io: CliIo): void {
  const budget = program
    .command('budget')
    .description('what providers of nodes may be asked, over all machines')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse budget set alchemy --per-second 50 --per-day 3M --per-month 80M',
    );

  budget
    .command('list')
    .description('list budgets, what of them is used, and what waits for them')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  $ packhouse budget list')
    .action(async (options: { json?: boolean; dataDir?: string }) => {
      const { rows, waits } = await withBudgets(io, options, async (database, leases) => ({
        rows: await Promise.all(
          (await database.budgets.list()).map((one) => standingOf(one, database, leases)),
        ),
        waits: await database.budgets.waits(),
      }));
      if (options.json) for (const row of rows) await print(io, row);
      else {
        await print(io, rows.length === 0 ? 'No provider has a budget.' : budgetTable(rows));
        for (const { network, provider, period, until } of waits) {
          await print(
            io,
            `Backfills of ${network} wait for the ${period} of ${provider} until ${until.toISOString()}.`,
          );
        }
        for (const line of await sharedHosts(io)) await print(io, line);
      }
    });

  budget
    .command('set')
    .description('set or change a budget: every process keeps to it within a second')
    .argument('<provider>', 'as the networks file names it; default there: the host name of the url')
    .option('--per-second <units>', 'units in any second, e.g. 50, or none')
    .option('--per-day <units>', 'units a day (UTC), e.g. 3M, or none')
    .option('--per-month <units>', 'units a calendar month (UTC), e.g. 80M, or none')
    .option('--unit <unit>', 'requests: each counts one; units: each counts what its method weighs')
    .option('--weights <list>', 'units of a request by method: eth_getLogs=75,other=20; or none')
    .option('--reserve <percent>', 'what backfills leave to clients and the head, 0 to 90 (default 10)')
    .option('--price <amount>', 'what a million units cost, or none')
    .option('--currency <code>', 'of the price, e.g. USD')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse budget set alchemy --per-second 500 --per-month 300M --weights eth_getLogs=60,other=20 --price 0.45 --currency USD',
    )
    .action(async (provider: string, options: SetOptions) => {
      checkProvider(provider);
      const row = await withBudgets(io, options, async (database, leases) => {
        const weights = await weightsOf(options.weights, database);
        let begins = false;
        const after = await database.budgets.change(
          provider,
          (before) => {
            const changed = changedBudget(provider, before, options, weights);
            begins = before === null || costsOf(before) !== costsOf(changed);
            return changed;
          },
          operatorName(io),
        );
        // Its count begins with what was asked since the beginning of the month, by the new weights.
        if (begins) await leases.forget(provider);
        return standingOf(after, database, leases);
      });
      await print(io, options.json ? row : budgetTable([row]));
    });

  budget
    .command('remove')
    .description('remove a budget: the provider is asked without a limit')
    .argument('<provider>', 'as `packhouse budget list` names it')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ packhouse budget remove alchemy')
    .action(async (provider: string, options: { json?: boolean; dataDir?: string }) => {
      await withDatabase(io, options, (database) =>
        database.budgets.change(
          provider,
          (before) => {
            if (before !== null) return null;
            throw new PackhouseError({
              code: 'BUDGET_UNKNOWN',
              message: `There is no budget of a provider "${provider}".`,
              hint: 'See `packhouse budget list`.',
            });
          },
          operatorName(io),
        ),
      );
      await print(io, options.json ? { provider, removed: true } : `${provider} has no budget any more.`);
    });
}

function checkProvider(provider: string): void {
  if (PROVIDER.test(provider)) return;
  throw usage(
    `A provider is letters, digits, dots, dashes, colons and underscores, got "${provider.slice(0, 64)}".`,
  );
}

/** Throws USAGE for what does not fit. */
function changedBudget(
  provider: string,
  before: Budget | null,
  options: SetOptions,
  weights: Record<string, number> | undefined,
): Budget {
  const { perSecond, perDay, perMonth, price, currency, reserve } = options;
  const base: Budget = before ?? {
    ...{ provider, unit: 'requests', weights: {}, reserve: 0.1 },
    ...{ perSecond: null, perDay: null, perMonth: null, pricePerMillion: null, currency: null },
  };
  const some = weights !== undefined && Object.keys(weights).length > 0;
  const after: Budget = {
    ...base,
    unit: unitOf(options.unit) ?? (some ? 'units' : base.unit),
    weights: weights ?? base.weights,
    perSecond:
      perSecond === undefined ? base.perSecond : decimalOf(perSecond, '--per-second', MAX_PER_SECOND),
    perDay: perDay === undefined ? base.perDay : countOf(perDay, '--per-day'),
    perMonth: perMonth === undefined ? base.perMonth : countOf(perMonth, '--per-month'),
    reserve: reserve === undefined ? base.reserve : parseInteger(reserve, '--reserve', 0, MAX_RESERVE) / 100,
    pricePerMillion: price === undefined ? base.pricePerMillion : decimalOf(price, '--price', MAX_PER_SECOND),
    currency: currency === undefined ? base.currency : currencyOf(currency),
  };
  if (after.unit === 'requests' && some)
    throw usage('--weights are for --unit units, and --unit is requests.');
  if (after.perSecond === null && after.perDay === null && after.perMonth === null) {
    throw usage(
      'A budget has a limit: give --per-second, --per-day or --per-month.',
      'Or `packhouse budget remove`.',
    );
  }
  checkHeaviest(after);
  return after;
}

/** A call that a whole day does not pay for could never be sent. */
function checkHeaviest({ unit, weights, perDay, perMonth, reserve }: Budget): void {
  const [method, units] = Object.entries(unit === 'units' ? weights : {}).sort((a, b) => b[1] - a[1])[0] ?? [
    'a request',
    1,
  ];
  for (const [limit, option] of [
    [perDay, '--per-day'],
    [perMonth, '--per-month'],
  ] as const) {
    if (limit === null || Math.floor(limit * (1 - reserve)) >= units) continue;
    throw usage(
      `${option} ${limit} leaves backfills ${Math.floor(limit * (1 - reserve))} units, and ${method} takes ${units}: it could never be sent.`,
      'Give more, or a smaller --reserve.',
    );
  }
}

const costsOf = ({ unit, weights }: Budget): string => JSON.stringify([unit, weights]);

/** Throws USAGE for a method that nobody knows. */
async function weightsOf(
  text: string | undefined,
  database: Database,
): Promise<Record<string, number> | undefined> {
  if (text === undefined) return undefined;
  if (text === 'none') return {};
  const weights: Record<string, number> = {};
  for (const item of text.split(',')) {
    const [, method = '', units = ''] = /^\s*([A-Za-z][A-Za-z0-9_]{0,63})=(\d+)\s*$/.exec(item) ?? [];
    if (method === '') throw usage(`--weights takes method=units with commas between, got "${item}".`);
    weights[method] = parseInteger(units, `--weights ${method}`, 0, MAX_WEIGHT);
  }
  const unknown = Object.keys(weights).filter((method) => method !== 'other' && !isKnownMethod(method));
  if (unknown.length > 0) {
    // A network may allow methods of its own; what was sent once exists.
    const sent = new Set((await database.spending.upstreams(0, 1_000_000)).map(({ method }) => method));
    const never = unknown.find((method) => !sent.has(method));
    if (never !== undefined) {
      throw usage(`There is no method ${never}, and none of this name was ever sent to a node.`);
    }
  }
  return weights;
}

function unitOf(text: string | undefined): Budget['unit'] | undefined {
  if (text === undefined || text === 'requests' || text === 'units') return text;
  throw usage(`--unit takes requests or units, got "${text}".`);
}

function countOf(text: string, option: string): number | null {
  return text === 'none' ? null : parseCount(text, option);
}

function decimalOf(text: string, option: string, max: number): number | null {
  if (text === 'none') return null;
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number > 0 && number <= max) return number;
  throw usage(`${option} takes a number above 0 and up to ${max}, or none, got "${text}".`);
}

function currencyOf(text: string): string | null {
  if (text === 'none') return null;
  if (/^[A-Z]{3,5}$/.test(text)) return text;
  throw usage(`--currency takes 3 to 5 capital letters, got "${text}".`, 'For example --currency USD.');
}

function usage(message: string, hint?: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message, hint });
}
