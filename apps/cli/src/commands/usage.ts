import { ownerSpending, type SpentRow, upstreamSpending } from '@packhouse/operations';
import { list, resource } from '../installation/resource.js';
import { formatBytes, formatCount } from '../terminal/format.js';
import { usageTable } from './usage-table.js';

/** What both reports have: days, and a table of sums by these fields. */
const common = (heads: readonly (keyof SpentRow)[]) => ({
  examples: ['--since 30d'],
  fields: {
    since: ['--since <date>', 'First day in UTC, e.g. 2026-11-01, or a number of days, e.g. 30d'],
  } as const,
  empty: ({ since }: { since?: string | undefined }) => `No requests to nodes since ${since}.`,
  show: (rows: readonly SpentRow[]) =>
    usageTable(
      rows,
      Object.fromEntries(heads.map((head) => [head.toUpperCase(), (row: SpentRow) => String(row[head])])),
      {
        REQUESTS: (row) => formatCount(row.requests),
        UNITS: (row) => formatCount(row.units),
        RECEIVED: (row) => formatBytes(row.bytes),
        ...(rows.some(({ cost }) => cost !== undefined) && { COST: (row) => row.cost ?? null }),
      },
    ),
});

export const addUsageCommand = resource(
  'usage',
  'Show requests to nodes by upstream or owner',
  'upstreams --since 7d',
  {
    upstreams: list(upstreamSpending, {
      about: 'Requests, units, bytes and cost per upstream and method',
      ...common(['provider', 'network', 'upstream', 'method']),
    }),
    owners: list(ownerSpending, {
      about: 'Requests, units and bytes per owner and day',
      ...common(['day', 'owner']),
    }),
  },
);
