import { listBudgets, removeBudget, setBudget } from '@packhouse/operations';
import { list, one, resource } from '../installation/resource.js';
import { parseCount, parseInteger, usageError } from '../terminal/parse.js';
import { budgetNotes, budgetTable } from './budget-table.js';

const MAX_RESERVE = 90;

export const addBudgetCommand = resource(
  'budget',
  'Limit requests to node providers, over all machines',
  'set alchemy --per-second 50 --per-day 3M --per-month 80M',
  {
    list: list(listBudgets, {
      about: 'List budgets, their usage, and what waits for them',
      toRows: ({ rows, waits }) =>
        rows.map((row) => ({
          ...row,
          waiting: waits
            .filter(({ provider }) => provider === row.provider)
            .map(({ network, period, until }) => ({ network, period, until })),
        })),
      show: async (rows, _, { waits }, { io }) => [
        rows.length === 0 ? 'No budgets.' : budgetTable(rows),
        ...waits.map(
          ({ network, provider, period, until }) =>
            `Backfills of ${network} wait for the ${period} budget of ${provider} until ${until.toISOString()}.`,
        ),
        ...(await budgetNotes(io, rows)),
      ],
    }),
    set: one(setBudget, {
      about: 'Create or change a budget; it applies within a second',
      examples: [
        'alchemy --per-second 500 --per-month 300M --weights eth_getLogs=60,other=20 --price 0.45 --currency USD',
      ],
      none: 'none',
      fields: {
        provider: ['<provider>', 'Provider in the networks file; by default the host name of the URL'],
        perSecond: ['--per-second <units>', 'Units per second, e.g. 50, or none'],
        perDay: ['--per-day <units>', 'Units per day (UTC), e.g. 3M, or none', { read: parseCount }],
        perMonth: [
          '--per-month <units>',
          'Units per calendar month (UTC), e.g. 80M, or none',
          { read: parseCount },
        ],
        unit: ['--unit <unit>', 'requests (each counts as one) or units (each counts by --weights)'],
        weights: [
          '--weights <list>',
          'Units per request by method, e.g. eth_getLogs=75,other=20, or none',
          { read: parseWeights },
        ],
        reserve: [
          '--reserve <percent>',
          'Reserve for live traffic, 0 to 90 (default: 10)',
          { read: (text, flag) => parseInteger(text, flag, 0, MAX_RESERVE) / 100 },
        ],
        pricePerMillion: ['--price <amount>', 'Price per million units, or none'],
        currency: ['--currency <code>', 'Currency of the price, e.g. USD'],
      },
      say: async (row, _, { io }) => [budgetTable([row]), ...(await budgetNotes(io, [row]))],
    }),
    remove: one(removeBudget, {
      about: 'Remove a budget; requests to the provider are no longer limited',
      examples: ['alchemy'],
      fields: { provider: ['<provider>', 'Provider in `packhouse budget list`'] },
      say: ({ provider }) => `Budget of ${provider} removed.`,
    }),
  },
);

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
