import { createHash } from 'node:crypto';
import {
  createKey,
  keyRequests,
  keyUsage,
  listKeys,
  logKey,
  type PublicKey,
  revokeKey,
  rotateKey,
  setKey,
} from '@packhouse/operations';
import { isApiKey, systemClock } from '@packhouse/runtime';
import { list, one, resource } from '../../installation/resource.js';
import { formatBytes, formatCount, formatTime } from '../../terminal/format.js';
import { parseNetworkName, usageError } from '../../terminal/parse.js';
import { columnTable } from '../../terminal/table.js';
import { usageTable } from '../usage-table.js';
import { describeRestrictions, RESTRICTIONS } from './restrictions.js';

/** The argument of commands on one key. */
const KEY = ['<key>', 'Prefix (ph_ and 8 characters), number, or whole key', { read: keyName }] as const;
/** A key, or all of an application. */
const SUBJECT = {
  key: ['[key]', KEY[1], KEY[2]],
  application: ['--application <name>'],
} as const;

export const addKeysCommand = resource(
  'keys',
  'Create, list, change, rotate and revoke API keys, and show their usage',
  'create --application analytics',
  {
    create: one(createKey, {
      about: 'Create an API key; it is shown only once',
      examples: [
        '--application analytics --plan standard',
        '--application shop --network ethereum --origin https://*.example.com --method eth_call eth_getLogs',
      ],
      fields: {
        application: ['--application <name>', 'Application; created if it does not exist'],
        plan: ['--plan <name>', 'Plan in `packhouse plans list`'],
        network: ['--network <id>', 'Allowed network (default: all)', { read: parseNetworkName }],
        expiresAt: ['--expires <date>', 'Expiry date, e.g. 2027-01-31'],
        origins: ['--origin <origin...>', 'Allowed browser origins, e.g. https://app.example.com'],
        addresses: ['--address <cidr...>', 'Allowed client addresses, e.g. 203.0.113.0/24'],
        methods: ['--method <name...>', 'Allowed methods; also bundle-api, download, nft, usage'],
        contracts: ['--contract <address...>', 'Contracts that calls may read; no files then'],
        maxLogRange: [
          '--max-log-range <blocks>',
          'Most blocks of one eth_getLogs, if less than the plan has',
        ],
      },
      say: (row) =>
        `${row.apiKey}\nStore it now: only its hash is kept. Plan ${row.plan}, application ${row.application}.${describeRestrictions(row, ' Only ')}`,
    }),
    list: list(listKeys, {
      about: 'List API keys by prefix',
      fields: {
        search: [
          '--search <text>',
          'Only keys whose application contains this, or whose prefix begins with it',
        ],
        application: ['--application <name>'],
      },
      columns: {
        PREFIX: (row) => row.prefix,
        APPLICATION: (row) => row.application,
        NETWORK: (row) => row.network ?? 'all',
        PLAN: (row) => row.plan,
        STATE: toState,
        'LAST USED': (row) => row.lastUsedAt,
        RESTRICTIONS: (row) => describeRestrictions(row, '') || null,
      },
    }),
    usage: list(keyUsage, {
      about: 'Show usage of API keys: requests, units, errors and bytes sent',
      examples: ['ph_3kTq9ZbX --since 30d --by method', '--application analytics --by network'],
      fields: {
        key: ['[key]', 'Only this key: prefix, number, or whole key', { read: keyName }],
        application: ['--application <name>', 'Only keys of this application'],
        since: ['--since <date>', 'First day in UTC, e.g. 2026-11-01, or a number of days, e.g. 30d'],
        until: ['--until <date>', 'Last day in UTC (default: today)'],
        by: [
          '--by <group>',
          'key, day, method or network (default: day for one key or application, else key)',
        ],
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
    }),
    set: one(setKey, {
      about: 'Change plan, network, expiry or restrictions of an API key; what is not given stays',
      examples: ['ph_3kTq9ZbX --expires 2027-01-31 --address 10.0.0.0/8 --origin any'],
      none: 'any',
      fields: {
        key: KEY,
        plan: ['--plan <name>', 'Plan in `packhouse plans list`'],
        network: ['--network <id>', 'Allowed network; any: all', { read: parseNetworkName }],
        expiresAt: ['--expires <date>', 'Expiry date; any: never'],
        ...RESTRICTIONS,
      },
      say: (row) => `Key ${row.prefix} changed: plan ${row.plan}.${describeRestrictions(row, ' Only ')}`,
    }),
    rotate: one(rotateKey, {
      about: 'Make a new secret, shown once; the old one works too for a while',
      examples: ['ph_3kTq9ZbX --overlap 24'],
      fields: {
        key: KEY,
        overlapHours: ['--overlap <hours>', 'Hours for which the old secret works too, 0 to 720'],
      },
      say: ({ apiKey, oldSecretUntil: until }) => {
        const old = until === null ? 'is refused' : `works until ${formatTime(until)}`;
        return `${apiKey}\nStore it now: only its hash is kept. The old secret ${old}.`;
      },
    }),
    log: one(logKey, {
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
    }),
    requests: list(keyRequests, {
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
    }),
    revoke: one(revokeKey, {
      about: 'Revoke an API key; every gateway refuses it within a second',
      examples: ['ph_3kTq9ZbX'],
      fields: { key: KEY },
      say: (row) => `Key ${row.prefix} of ${row.application} revoked.`,
    }),
  },
);

function toState({ revokedAt, expiresAt }: PublicKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt.getTime() > systemClock.now() ? 'active until' : 'expired'} ${expiresAt.toISOString()}`;
}

/** The public prefix of a key, or its number. */
const PUBLIC = /^(?:ph_[A-Za-z0-9]{8}|\d{1,20})$/;

/**
 * A key that a command names by its public prefix, its number, or whole, as operations take it: a whole one as its
 * SHA-256. Anything before or behind is refused: it may be another key than the one meant. Throws USAGE, which never
 * repeats a secret.
 */
function keyName(name: string): string {
  if (isApiKey(name)) return createHash('sha256').update(name).digest('hex');
  if (PUBLIC.test(name)) return name;
  const begins = /^ph_[A-Za-z0-9]{8}/.exec(name)?.[0];
  const got = begins === undefined ? 'something else' : `${begins} and something else`;
  throw usageError(
    `A key is named by its prefix (ph_ and 8 letters or digits), by its number, or whole, got ${got}.`,
    'See `packhouse keys list` for the prefixes.',
  );
}
