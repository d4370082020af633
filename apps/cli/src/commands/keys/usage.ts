import { keyUsage } from '@packhouse/operations';
import { list } from '../../installation/resource.js';
import { formatBytes, formatCount } from '../../terminal/format.js';
import { usageTable } from '../usage-table.js';
import { keyName } from './key-name.js';

/** `packhouse keys usage`. */
export const USAGE_COMMAND = list(keyUsage, {
  about: 'Show usage of API keys: requests, units, errors and bytes sent',
  examples: ['ph_3kTq9ZbX --since 30d --by method', '--application analytics --by network'],
  fields: {
    key: ['[key]', 'Only this key: prefix, number, or whole key', { read: keyName }],
    application: ['--application <name>', 'Only keys of this application'],
    since: ['--since <date>', 'First day in UTC, e.g. 2026-11-01, or a number of days, e.g. 30d'],
    until: ['--until <date>', 'Last day in UTC (default: today)'],
    by: ['--by <group>', 'key, day, method or network (default: day for one key or application, else key)'],
  },
  toInput: ({ key, application, by, ...days }) => {
    const usual = key === undefined && application === undefined ? 'key' : 'day';
    return { key, application, by: by ?? usual, ...days };
  },
  toRows: ({ rows }, { by = '' }) => rows.map(({ name, ...figures }) => ({ [by]: name, ...figures })),
  empty: (_, { since, until }) => `No usage from ${since} to ${until}.`,
  show: (_, { by = '' }, { rows }) =>
    usageTable(
      rows,
      {
        [by.toUpperCase()]: (row) => row.name,
        ...(by === 'key' && { APPLICATION: (row) => row.application ?? null }),
      },
      {
        REQUESTS: (row) => formatCount(row.requests),
        UNITS: (row) => formatCount(row.units),
        ERRORS: (row) => formatCount(row.errors ?? 0),
        SENT: (row) => formatBytes(row.bytes),
      },
    ),
});
