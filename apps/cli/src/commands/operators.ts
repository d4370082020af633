import {
  addOperator,
  dropTokens,
  listOperators,
  listSignIns,
  makeLink,
  makeToken,
  ROLES,
  removeOperator,
  setOperator,
} from '@packhouse/operations';
import { list, one, resource } from '../installation/resource.js';
import { counted } from '../terminal/format.js';
import type { CliIo } from '../terminal/io.js';
import { readSecretLine } from '../terminal/secret-line.js';

/** Where a console on this machine listens by default. */
const CONSOLE = 'http://127.0.0.1:8090';
/** More is not read from stdin. */
const MAX_PASSWORD = 1_025;

const NAME = ['<name>', 'Name of the operator'] as const;
const ROLE = ['--role <role>', `Role: ${ROLES.join(', ')}`] as const;
const readPassword = {
  read: (_: unknown, __: string, io: CliIo) => readSecretLine(io, 'Password', MAX_PASSWORD),
};
const ONE = { examples: ['ada'], fields: { name: NAME } };

export const addOperatorsCommand = resource(
  'operators',
  'Manage operators of the console: roles, links and tokens',
  'add ada --role admin',
  {
    list: list(listOperators, {
      about: 'List operators, their sessions and tokens',
      toRows: ({ operators: rows, secrets }) =>
        rows.map((row) => ({ ...row, secrets: secrets.filter(({ operatorId }) => operatorId === row.id) })),
      empty: 'No operators. Add one: packhouse operators add NAME --role admin',
      columns: {
        NAME: (row) => row.name,
        ROLE: (row) => row.role,
        'SIGN-IN': ({ isOidc, hasPassword }) =>
          [...(isOidc ? ['oidc'] : []), ...(hasPassword ? ['password'] : [])].join(', ') || 'link',
        SESSIONS: ({ secrets }) => secrets.filter(({ kind }) => kind !== 'token').length,
        TOKENS: ({ secrets }) =>
          secrets.flatMap(({ kind, label }) => (kind === 'token' ? [label] : [])).join(', '),
      },
    }),
    add: one(addOperator, {
      about: 'Add an operator; without --password, sign-in is by link',
      examples: ['ada --role admin'],
      fields: {
        name: NAME,
        role: ROLE,
        password: ['--password', 'Read the password from stdin (first line)', readPassword],
      },
      say: (row) => `Operator ${row.name} added with role ${row.role}.`,
    }),
    set: one(setOperator, {
      about: 'Change role or password; all sessions and tokens end',
      examples: ['ada --role viewer'],
      fields: {
        name: NAME,
        role: ROLE,
        password: ['--password', 'Read the new password from stdin (first line)', readPassword],
      },
      say: (row) => `Operator ${row.name} has role ${row.role}; all sessions and tokens ended.`,
    }),
    remove: one(removeOperator, {
      ...ONE,
      about: 'Remove an operator with all sessions and tokens',
      say: (row) => `Operator ${row.name} removed.`,
    }),
    link: one(makeLink, {
      ...ONE,
      about: 'Print a one-time link to sign in, valid for 10 minutes',
      toRow(made, _, { io, server }) {
        const base = server ?? io.env.PACKHOUSE_SERVER ?? io.env.CONSOLE_URL ?? CONSOLE;
        return { ...made, url: `${base.replace(/\/+$/, '')}${made.path}` };
      },
      say: ({ url }) => url,
    }),
    'sign-ins': list(listSignIns, {
      about: 'List the latest sign-ins and refused attempts',
      examples: ['--limit 20'],
      fields: { limit: ['--limit <n>', 'Number of them, up to 1000'] },
      empty: 'No sign-ins.',
      columns: {
        TIME: (row) => row.at,
        METHOD: (row) => row.method,
        NAME: (row) => row.name,
        ADDRESS: (row) => row.address,
        OUTCOME: (row) => row.outcome,
      },
    }),
    token: one(makeToken, {
      about: 'Create a token for a program; it is shown only once',
      examples: ['ada --label ci --days 30'],
      fields: {
        name: NAME,
        label: ['--label <text>', 'Label of the token'],
        role: ['--role <role>', "Role, at most the operator's own (the default)"],
        days: ['--days <n>', 'Days until it expires'],
      },
      say: ({ token }) => token,
    }),
    'drop-tokens': one(dropTokens, {
      about: 'Revoke the tokens with a label',
      examples: ['ada --label ci'],
      fields: { name: NAME, label: ['--label <text>', 'Label of the tokens'] },
      say: ({ dropped, label, name }) => `${counted(dropped, 'token')} "${label}" of ${name} revoked.`,
    }),
  },
);
