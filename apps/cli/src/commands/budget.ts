import { listBudgets, removeBudget, setBudget } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../terminal/command.js';
import { type CliIo, print } from '../terminal/io.js';
import { orNull, parseCount, parseInteger, usageError } from '../terminal/parse.js';
import { budgetNotes, budgetTable } from './budget-table.js';

interface SetOptions extends Place {
  perSecond?: string;
  perDay?: string;
  perMonth?: string;
  unit?: 'requests' | 'units';
  weights?: string;
  reserve?: string;
  price?: string;
  currency?: string;
}

const MAX_RESERVE = 90;

/** `packhouse budget list|set|remove`. */
export function addBudgetCommand(program: Command, io: CliIo): void {
  const budget = addCommand(
    program,
    'budget',
    'Limit requests to node providers, over all machines',
    'set alchemy --per-second 50 --per-day 3M --per-month 80M',
  );

  addPlacedCommand(budget, 'list', 'List budgets, their usage, and what waits for them').action(
    async (options: Place) => {
      const { rows, waits } = await operate(io, options, listBudgets, {});
      if (options.json) {
        for (const row of rows) {
          const waiting = waits
            .filter(({ provider }) => provider === row.provider)
            .map(({ network, period, until }) => ({ network, period, until }));
          await print(io, { ...row, waiting });
        }
        return;
      }
      await print(io, rows.length === 0 ? 'No budgets.' : budgetTable(rows));
      for (const { network, provider, period, until } of waits) {
        await print(
          io,
          `Backfills of ${network} wait for the ${period} budget of ${provider} until ${until.toISOString()}.`,
        );
      }
      for (const line of await budgetNotes(io, rows)) await print(io, line);
    },
  );

  addPlacedCommand(
    budget,
    'set',
    'Create or change a budget; it applies within a second',
    'alchemy --per-second 500 --per-month 300M --weights eth_getLogs=60,other=20 --price 0.45 --currency USD',
  )
    .argument('<provider>', 'Provider in the networks file; by default the host name of the URL')
    .option('--per-second <units>', 'Units per second, e.g. 50, or none')
    .option('--per-day <units>', 'Units per day (UTC), e.g. 3M, or none')
    .option('--per-month <units>', 'Units per calendar month (UTC), e.g. 80M, or none')
    .option('--unit <unit>', 'requests (each counts as one) or units (each counts by --weights)')
    .option('--weights <list>', 'Units per request by method, e.g. eth_getLogs=75,other=20, or none')
    .option('--reserve <percent>', 'Reserve for live traffic, 0 to 90 (default: 10)')
    .option('--price <amount>', 'Price per million units, or none')
    .option('--currency <code>', 'Currency of the price, e.g. USD')
    .action(async (provider: string, options: SetOptions) => {
      const row = await operate(io, options, setBudget, { provider, ...toFields(options) });
      if (options.json) await print(io, row);
      else await print(io, [budgetTable([row]), ...(await budgetNotes(io, [row]))].join('\n'));
    });

  addPlacedCommand(
    budget,
    'remove',
    'Remove a budget; requests to the provider are no longer limited',
    'alchemy',
  )
    .argument('<provider>', 'Provider in `packhouse budget list`')
    .action(async (provider: string, options: Place) => {
      const done = await operate(io, options, removeBudget, { provider });
      await print(io, options.json ? done : `Budget of ${provider} removed.`);
    });
}

/** The given options, as the operation takes them. Throws USAGE. */
function toFields(options: SetOptions) {
  const { reserve, weights, unit } = options;
  return {
    unit,
    perSecond: orNull(options.perSecond, String),
    perDay: orNull(options.perDay, (text) => parseCount(text, '--per-day')),
    perMonth: orNull(options.perMonth, (text) => parseCount(text, '--per-month')),
    weights: weights === undefined ? undefined : parseWeights(weights),
    reserve: reserve === undefined ? undefined : parseInteger(reserve, '--reserve', 0, MAX_RESERVE) / 100,
    pricePerMillion: orNull(options.price, String),
    currency: orNull(options.currency, String),
  };
}

function parseWeights(text: string): Record<string, string> {
  if (text === 'none') return {};
  const weights: Record<string, string> = {};
  for (const item of text.split(',')) {
    const [, method, units] = /^\s*([^=\s]+)=(\d+)\s*$/.exec(item) ?? [];
    if (method === undefined || units === undefined) {
      throw usageError(`--weights takes comma-separated method=units, got "${item}".`);
    }
    weights[method] = units;
  }
  return weights;
}
