import type { Budget } from '@packhouse/database';
import { listBudgets, removeBudget, setBudget } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { type CliIo, print } from '../terminal/io.js';
import { parseCount, parseInteger } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';
import { budgetNotes, budgetTable } from './budget-table.js';

interface PlaceOptions {
  server?: string;
  json?: boolean;
  dataDir?: string;
}

interface SetOptions extends PlaceOptions {
  perSecond?: string;
  perDay?: string;
  perMonth?: string;
  unit?: string;
  weights?: string;
  reserve?: string;
  price?: string;
  currency?: string;
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

  withPlace(budget.command('list'))
    .description('list budgets, what of them is used, and what waits for them')
    .addHelpText('after', '\nExample:\n  $ packhouse budget list')
    .action(async (options: PlaceOptions) => {
      const { rows, waits } = await operate(io, options, listBudgets, {});
      if (options.json) {
        const of = (name: string) => waits.filter(({ provider }) => provider === name);
        for (const row of rows) {
          const waiting = of(row.provider).map(({ network, period, until }) => ({ network, period, until }));
          await print(io, { ...row, waiting });
        }
      } else {
        await print(io, rows.length === 0 ? 'No provider has a budget.' : budgetTable(rows));
        for (const { network, provider, period, until } of waits) {
          await print(
            io,
            `Backfills of ${network} wait for the ${period} of ${provider} until ${until.toISOString()}.`,
          );
        }
        for (const line of await budgetNotes(io, rows)) await print(io, line);
      }
    });

  withPlace(budget.command('set'))
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
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse budget set alchemy --per-second 500 --per-month 300M --weights eth_getLogs=60,other=20 --price 0.45 --currency USD',
    )
    .action(async (provider: string, options: SetOptions) => {
      checkProvider(provider);
      const row = await operate(io, options, setBudget, { provider, ...fieldsOf(options) });
      if (options.json) await print(io, row);
      else await print(io, [budgetTable([row]), ...(await budgetNotes(io, [row]))].join('\n'));
    });

  withPlace(budget.command('remove'))
    .description('remove a budget: the provider is asked without a limit')
    .argument('<provider>', 'as `packhouse budget list` names it')
    .addHelpText('after', '\nExample:\n  $ packhouse budget remove alchemy')
    .action(async (provider: string, options: PlaceOptions) => {
      checkProvider(provider);
      const done = await operate(io, options, removeBudget, { provider });
      await print(io, options.json ? done : `${provider} has no budget any more.`);
    });
}

function checkProvider(provider: string): void {
  if (PROVIDER.test(provider)) return;
  throw usage(
    `A provider is letters, digits, dots, dashes, colons and underscores, got "${provider.slice(0, 64)}".`,
  );
}

/** What is given, as the operation takes it. Throws USAGE. */
function fieldsOf(options: SetOptions): Omit<Parameters<typeof setBudget.run>[1], 'provider' | 'expected'> {
  const { perSecond, perDay, perMonth, price, currency, reserve, weights } = options;
  return {
    unit: unitOf(options.unit),
    perSecond: perSecond === undefined ? undefined : decimalOf(perSecond, '--per-second', MAX_PER_SECOND),
    perDay: perDay === undefined ? undefined : countOf(perDay, '--per-day'),
    perMonth: perMonth === undefined ? undefined : countOf(perMonth, '--per-month'),
    weights: weights === undefined ? undefined : weightsOf(weights),
    reserve: reserve === undefined ? undefined : parseInteger(reserve, '--reserve', 0, MAX_RESERVE) / 100,
    pricePerMillion: price === undefined ? undefined : decimalOf(price, '--price', MAX_PER_SECOND),
    currency: currency === undefined ? undefined : currencyOf(currency),
  };
}

function weightsOf(text: string): Record<string, number> {
  if (text === 'none') return {};
  const weights: Record<string, number> = {};
  for (const item of text.split(',')) {
    const [, method = '', units = ''] = /^\s*([A-Za-z][A-Za-z0-9_]{0,63})=(\d+)\s*$/.exec(item) ?? [];
    if (method === '') throw usage(`--weights takes method=units with commas between, got "${item}".`);
    weights[method] = parseInteger(units, `--weights ${method}`, 0, MAX_WEIGHT);
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
