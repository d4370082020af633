import { keyRequests, logKey } from '@packhouse/operations';
import { list, one } from '../../installation/resource.js';
import { formatTime } from '../../terminal/format.js';
import { columnTable } from '../../terminal/table.js';
import { KEY } from './key-name.js';

const SUBJECT = {
  key: ['[key]', KEY[1], KEY[2]],
  application: ['--application <name>'],
} as const;

/** `packhouse keys log`. */
export const LOG_COMMAND = one(logKey, {
  about: 'Log the requests of an API key or application for some minutes',
  examples: ['ph_3kTq9ZbX', '--application shop --minutes 30', 'ph_3kTq9ZbX --params --minutes 15'],
  fields: {
    ...SUBJECT,
    minutes: ['--minutes <n>', 'Minutes, up to 1440; 0 ends it'],
    params: ['--params', 'Parameters of calls too, cut and without secrets; one key, up to 15 minutes'],
  },
  say: ({ loggedUntil: until, subject }, { application }) => {
    if (until === null) return `Requests of ${subject} are not logged.`;
    const which =
      application === undefined
        ? subject.replace(/^key /, '')
        : `--application ${JSON.stringify(application)}`;
    return `Requests of ${subject} are logged until ${formatTime(until)}: packhouse keys requests ${which}`;
  },
});

/** `packhouse keys requests`. */
export const REQUESTS_COMMAND = list(keyRequests, {
  about: 'List the logged requests of an API key or application, newest first',
  examples: ['ph_3kTq9ZbX --limit 50', '--application shop'],
  fields: { ...SUBJECT, limit: ['--limit <n>', 'Number of them, up to 1000'] },
  toRows: ({ requests }) => requests,
  empty: 'No logged requests. Turn the log on: packhouse keys log KEY',
  show: (rows) =>
    columnTable(rows, {
      TIME: (row) => row.at.toISOString(),
      KEY: (row) => row.prefix,
      NETWORK: (row) => row.network,
      METHOD: (row) => row.method,
      CALLS: (row) => row.calls || '',
      STATUS: (row) => row.status,
      OUTCOME: (row) => row.outcome,
      MS: (row) => row.ms.toFixed(1),
      UNITS: (row) => row.units,
      BYTES: (row) => row.bytes,
      'LEFT OUT': (row) => row.leftOut || '',
      ...(rows.some(({ params }) => params !== null) && { PARAMETERS: (row) => row.params ?? '' }),
    }),
});
