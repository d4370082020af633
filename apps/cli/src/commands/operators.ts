import {
  addOperator,
  dropTokens,
  listOperators,
  listSignIns,
  makeLink,
  makeToken,
  ROLES,
  type Role,
  removeOperator,
  setOperator,
} from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../terminal/command.js';
import { counted } from '../terminal/format.js';
import { type CliIo, print, printRows, table } from '../terminal/io.js';
import { readSecretLine } from '../terminal/secret-line.js';

interface Options extends Place {
  role?: Role;
  password?: boolean;
  label?: string;
  days?: string;
}

/** Where a console on this machine listens by default. */
const CONSOLE = 'http://127.0.0.1:8090';
/** More is not read from stdin. */
const MAX_PASSWORD = 1_025;

/** `packhouse operators list|add|set|remove|link|token|drop-tokens|sign-ins`. */
export function addOperatorsCommand(program: Command, io: CliIo): void {
  const operators = addCommand(
    program,
    'operators',
    'Manage operators of the console: roles, links and tokens',
    'add ada --role admin',
  );
  const one = (name: string, description: string, example: string): Command =>
    addPlacedCommand(operators, name, description, example).argument('<name>', 'Name of the operator');

  addPlacedCommand(operators, 'list', 'List operators, their sessions and tokens').action(
    async (options: Options) => {
      const { operators: found, secrets } = await operate(io, options, listOperators, {});
      const rows = found.map((row) => ({
        ...row,
        secrets: secrets.filter(({ operatorId }) => operatorId === row.id),
      }));
      const lines = rows.map(({ secrets: own, ...row }) => {
        const tokens = own.filter(({ kind }) => kind === 'token').map(({ label }) => label);
        const sessions = own.length - tokens.length;
        const ways = [...(row.isOidc ? ['oidc'] : []), ...(row.hasPassword ? ['password'] : [])];
        return [row.name, row.role, ways.join(', ') || 'link', String(sessions), tokens.join(', ')];
      });
      await printRows(io, options, rows, {
        none: 'No operators. Add one: packhouse operators add NAME --role admin',
        show: () => table([['NAME', 'ROLE', 'SIGN-IN', 'SESSIONS', 'TOKENS'], ...lines]),
      });
    },
  );

  one('add', 'Add an operator; without --password, sign-in is by link', 'ada --role admin')
    .requiredOption('--role <role>', `Role: ${ROLES.join(', ')}`)
    .option('--password', 'Read the password from stdin (first line)')
    .action(async (name: string, options: Options & { role: Role }) => {
      const input = { name, role: options.role, ...(await getPassword(io, options)) };
      const row = await operate(io, options, addOperator, input);
      await print(io, options.json ? row : `Operator ${row.name} added with role ${row.role}.`);
    });

  one('set', 'Change role or password; all sessions and tokens end', 'ada --role viewer')
    .option('--role <role>', `Role: ${ROLES.join(', ')}`)
    .option('--password', 'Read the new password from stdin (first line)')
    .action(async (name: string, options: Options) => {
      const input = { name, role: options.role, ...(await getPassword(io, options)) };
      const row = await operate(io, options, setOperator, input);
      await print(
        io,
        options.json ? row : `Operator ${row.name} has role ${row.role}; all sessions and tokens ended.`,
      );
    });

  one('remove', 'Remove an operator with all sessions and tokens', 'ada').action(
    async (name: string, options: Options) => {
      const row = await operate(io, options, removeOperator, { name });
      await print(io, options.json ? row : `Operator ${row.name} removed.`);
    },
  );

  one('link', 'Print a one-time link to sign in, valid for 10 minutes', 'ada').action(
    async (name: string, options: Options) => {
      const made = await operate(io, options, makeLink, { name });
      const base = options.server ?? io.env.PACKHOUSE_SERVER ?? io.env.CONSOLE_URL ?? CONSOLE;
      const url = `${base.replace(/\/+$/, '')}${made.path}`;
      await print(io, options.json ? { ...made, url } : url);
    },
  );

  addSignInsCommand(operators, io);
  one('token', 'Create a token for a program; it is shown only once', 'ada --label ci --days 30')
    .requiredOption('--label <text>', 'Label of the token')
    .option('--role <role>', "Role, at most the operator's own (the default)")
    .option('--days <n>', 'Days until it expires', '90')
    .action(async (name: string, { label = '', days, role, ...options }: Options) => {
      const made = await operate(io, options, makeToken, { name, label, days, role });
      await print(io, options.json ? made : made.token);
    });

  one('drop-tokens', 'Revoke the tokens with a label', 'ada --label ci')
    .requiredOption('--label <text>', 'Label of the tokens')
    .action(async (name: string, options: Options) => {
      const made = await operate(io, options, dropTokens, { name, label: options.label ?? '' });
      await print(
        io,
        options.json ? made : `${counted(made.dropped, 'token')} "${made.label}" of ${made.name} revoked.`,
      );
    });
}

function addSignInsCommand(operators: Command, io: CliIo): void {
  addPlacedCommand(operators, 'sign-ins', 'List the latest sign-ins and refused attempts', '--limit 20')
    .option('--limit <n>', 'Number of them, up to 1000', '100')
    .action(async (options: Options & { limit: string }) => {
      const { rows } = await operate(io, options, listSignIns, { limit: options.limit });
      const lines = rows.map(({ at, method, name, address, outcome }) => [
        `${at.toISOString().slice(0, 19)}Z`,
        method,
        name,
        address,
        outcome,
      ]);
      await printRows(io, options, rows, {
        none: 'No sign-ins.',
        show: () => table([['TIME', 'METHOD', 'NAME', 'ADDRESS', 'OUTCOME'], ...lines]),
      });
    });
}

async function getPassword(io: CliIo, { password }: Options): Promise<{ password?: string }> {
  return password === true ? { password: await readSecretLine(io, 'Password', MAX_PASSWORD) } : {};
}
