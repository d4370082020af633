import {
  addOperator,
  dropTokens,
  listOperators,
  makeLink,
  makeToken,
  ROLES,
  type Role,
  removeOperator,
  setOperator,
} from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseInteger } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';

interface Options {
  role?: string;
  password?: boolean;
  label?: string;
  days?: string;
  server?: string;
  json?: boolean;
  dataDir?: string;
}

/** Where a console on this machine listens unless it is told otherwise. */
const CONSOLE = 'http://127.0.0.1:8090';
const MAX_PASSWORD = 1_025;

/** `packhouse operators list|add|set|remove|link|token|drop-tokens`. */
export function addOperatorsCommand(program: Command, io: CliIo): void {
  const operators = program
    .command('operators')
    .description('who may look at and change this installation through its console')
    .addHelpText('after', '\nExample:\n  $ packhouse operators add ada --role admin');

  const sub = (name: string, description: string, example: string): Command =>
    withPlace(operators.command(name).description(description)).addHelpText(
      'after',
      `\nExample:\n  $ packhouse operators ${example}`,
    );
  const one = (name: string, description: string, example: string): Command =>
    sub(name, description, example).argument('<name>', 'the name of the operator');

  sub('list', 'list operators, their sessions and their tokens', 'list').action(async (options: Options) => {
    const { operators: rows, secrets } = await operate(io, options, listOperators, {});
    if (options.json) {
      for (const row of rows)
        await print(io, { ...row, secrets: secrets.filter(({ operatorId }) => operatorId === row.id) });
    } else if (rows.length === 0) {
      await print(io, 'There are no operators. Add one: packhouse operators add NAME --role admin');
    } else {
      const lines = rows.map((row) => {
        const own = secrets.filter(({ operatorId }) => operatorId === row.id);
        const tokens = own.filter(({ kind }) => kind === 'token').map(({ label }) => label);
        const sessions = own.length - tokens.length;
        return [row.name, row.role, row.hasPassword ? 'yes' : 'no', String(sessions), tokens.join(', ')];
      });
      await print(io, table([['NAME', 'ROLE', 'PASSWORD', 'SESSIONS', 'TOKENS'], ...lines]));
    }
  });

  one('add', 'add an operator; without --password he signs in by links', 'add ada --role admin')
    .requiredOption('--role <role>', `one of ${ROLES.join(', ')}`)
    .option('--password', 'read a password from stdin, its first line')
    .action(async (name: string, options: Options) => {
      const input = { name, role: roleOf(options.role ?? ''), ...(await passwordOf(io, options)) };
      const row = await operate(io, options, addOperator, input);
      await print(io, options.json ? row : `${row.name} is ${row.role} now.`);
    });

  one('set', 'change role or password; all sessions and tokens end', 'set ada --role viewer')
    .option('--role <role>', `one of ${ROLES.join(', ')}`)
    .option('--password', 'read a new password from stdin, its first line')
    .action(async (name: string, options: Options) => {
      const role = options.role === undefined ? {} : { role: roleOf(options.role) };
      const row = await operate(io, options, setOperator, {
        name,
        ...role,
        ...(await passwordOf(io, options)),
      });
      await print(io, options.json ? row : `${row.name} is ${row.role}; all sessions and tokens ended.`);
    });

  one('remove', 'remove an operator with all sessions and tokens', 'remove ada').action(
    async (name: string, options: Options) => {
      const row = await operate(io, options, removeOperator, { name });
      await print(io, options.json ? row : `${row.name} is removed.`);
    },
  );

  one('link', 'print a link that signs in once, within ten minutes', 'link ada').action(
    async (name: string, options: Options) => {
      const made = await operate(io, options, makeLink, { name });
      const base = options.server ?? io.env.PACKHOUSE_SERVER ?? io.env.CONSOLE_URL ?? CONSOLE;
      const url = `${base.replace(/\/+$/, '')}${made.path}`;
      await print(io, options.json ? { ...made, url } : url);
    },
  );

  one('token', 'print a token for a program; it is shown once', 'token ada --label ci --days 30')
    .requiredOption('--label <text>', 'what it is for')
    .option('--role <role>', "at most the operator's own (the default)")
    .option('--days <n>', 'until it expires', '90')
    .action(async (name: string, options: Options) => {
      const days = parseInteger(options.days ?? '90', '--days', 1, 3_650);
      const role = options.role === undefined ? {} : { role: roleOf(options.role) };
      const made = await operate(io, options, makeToken, { name, label: options.label ?? '', days, ...role });
      await print(io, options.json ? made : made.token);
    });

  one('drop-tokens', 'end the tokens of this label', 'drop-tokens ada --label ci')
    .requiredOption('--label <text>', 'as it was given')
    .action(async (name: string, options: Options) => {
      const made = await operate(io, options, dropTokens, { name, label: options.label ?? '' });
      await print(io, options.json ? made : `${made.dropped} tokens "${made.label}" of ${made.name} ended.`);
    });
}

function roleOf(text: string): Role {
  const role = ROLES.find((each) => each === text);
  if (role !== undefined) return role;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--role takes one of ${ROLES.join(', ')}, got "${text.slice(0, 64)}".`,
  });
}

/** The first line of stdin, so that no password stands on a command line. */
async function passwordOf(io: CliIo, { password }: Options): Promise<{ password?: string }> {
  if (password !== true) return {};
  if (io.stdin?.isTTY) io.stderr.write('Password (it is shown): ');
  let text = '';
  for await (const piece of io.stdin ?? []) {
    text += String(piece);
    if (text.includes('\n') || text.length > MAX_PASSWORD) break;
  }
  const [line = ''] = text.split(/\r?\n/);
  if (line.length >= 10 && line.length < MAX_PASSWORD) return { password: line };
  throw new PackhouseError({
    code: 'USAGE',
    message: `--password takes 10 to ${MAX_PASSWORD - 1} characters from the first line of stdin, got ${line.length}.`,
  });
}
