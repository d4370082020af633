import { createKey, listKeys, type PublicKey, revokeKey, rotateKey, setKey } from '@packhouse/operations';
import { systemClock } from '@packhouse/runtime';
import { list, one, resource } from '../../installation/resource.js';
import { formatTime } from '../../terminal/format.js';
import { parseNetworkName } from '../../terminal/parse.js';
import { LOG_COMMAND, REQUESTS_COMMAND } from './key-log.js';
import { KEY } from './key-name.js';
import { describeRestrictions, RESTRICTIONS } from './restrictions.js';
import { USAGE_COMMAND } from './usage.js';

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
    usage: USAGE_COMMAND,
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
    log: LOG_COMMAND,
    requests: REQUESTS_COMMAND,
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
