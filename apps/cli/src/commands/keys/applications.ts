import {
  addApplication,
  archiveApplication,
  listApplications,
  restoreApplication,
  restrictApplication,
  setApplication,
  showApplication,
} from '@packhouse/operations';
import type { Command } from 'commander';
import { operate, readAllRows } from '../../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../../terminal/command.js';
import { counted } from '../../terminal/format.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';
import { ANY, toList, toNull } from './any-value.js';
import type { TermOptions } from './term-options.js';

interface Terms extends Place {
  owner?: string;
  description?: string;
  contact?: string;
}

interface ListOptions extends Place {
  search?: string;
  owner?: string;
  archived?: boolean;
}

type Row = Awaited<ReturnType<typeof showApplication.run>>;

/** `packhouse applications list|show|add|set|restrict|archive|restore`. */
export function addApplicationsCommand(program: Command, io: CliIo): void {
  const applications = addCommand(
    program,
    'applications',
    'List, create, change and archive applications, which API keys belong to',
    'add shop --owner ada --contact "#shop"',
  );
  const one = (name: string, description: string, example: string): Command =>
    addPlacedCommand(applications, name, description, example).argument('<name>', 'Name of the application');

  addPlacedCommand(applications, 'list', 'List applications with their live keys', '--owner ada')
    .option(
      '--search <text>',
      'Only those whose name contains this, or with a key whose prefix begins with it',
    )
    .option('--owner <name>', 'Only those of this account')
    .option('--archived', 'Archived ones too')
    .action(async ({ search, owner, archived, ...place }: ListOptions) => {
      const rows = await readAllRows(io, place, listApplications, { search, owner, archived });
      await printRows(io, place, rows, {
        none: 'No applications. Create one: packhouse applications add NAME',
        show: () => applicationTable(rows),
      });
    });

  one('show', 'Show an application', 'shop').action(async (application: string, options: Place) => {
    const row = await operate(io, options, showApplication, { application });
    await print(io, options.json ? row : describe(row).join('\n'));
  });

  withTerms(
    one('add', 'Create an application; its name does not change', 'shop --owner ada'),
    'Account that manages it',
  ).action(async (name: string, { owner, description, contact, ...place }: Terms) => {
    const row = await operate(io, place, addApplication, { name, owner, description, contact });
    const next = `Create a key: packhouse keys create --application ${JSON.stringify(row.name)}`;
    await print(io, place.json ? row : `Application ${row.name} created. ${next}`);
  });

  withTerms(
    one('set', 'Change owner, description or contact; what is not given stays', 'shop --owner ada'),
    `Account that manages it; ${ANY}: none`,
  ).action(async (application: string, { owner, description, contact, ...place }: Terms) => {
    if ([owner, description, contact].every((given) => given === undefined)) {
      throw usageError('No change is given.', 'Give --owner, --description or --contact.');
    }
    const given = { owner: toNull(owner), description, contact };
    const row = await operate(io, place, setApplication, { application, ...given });
    await print(io, place.json ? row : describe(row).join('\n'));
  });

  addRestrict(one, io);

  one('archive', 'Archive an application; all its keys are revoked for good', 'shop').action(
    async (application: string, options: Place) => {
      const row = await operate(io, options, archiveApplication, { application });
      const text = `Application ${row.name} archived, ${counted(row.revoked, 'key')} revoked.`;
      await print(io, options.json ? row : text);
    },
  );

  one('restore', 'Take an archived application back into use; its keys stay revoked', 'shop').action(
    async (application: string, options: Place) => {
      const row = await operate(io, options, restoreApplication, { application });
      await print(io, options.json ? row : `Application ${row.name} is in use again.`);
    },
  );
}

function withTerms(command: Command, owner: string): Command {
  return command
    .option('--owner <name>', owner)
    .option('--description <text>', 'What it is for, up to 1000 characters')
    .option('--contact <text>', 'Whom operators ask, up to 200 characters');
}

function addRestrict(one: (name: string, description: string, example: string) => Command, io: CliIo): void {
  one(
    'restrict',
    'Restrict all keys of an application at once; what is not given stays',
    'shop --origin https://*.example.com --method any',
  )
    .option('--origin <origin...>', 'Allowed browser origins, all of them; any: all')
    .option('--address <cidr...>', 'Allowed client addresses, all of them; any: all')
    .option('--method <name...>', 'Allowed methods, all of them; any: all')
    .option('--contract <address...>', 'Contracts that calls may read, all of them; any: all')
    .option('--max-log-range <blocks>', 'Most blocks of one eth_getLogs; any: as the plan')
    .action(async (application: string, options: TermOptions) => {
      const row = await operate(io, options, restrictApplication, {
        application,
        origins: toList(options.origin),
        addresses: toList(options.address),
        methods: toList(options.method),
        contracts: toList(options.contract),
        maxLogRange: toNull(options.maxLogRange),
      });
      const text = `${counted(row.keys.length, 'key')} of ${row.application} restricted.`;
      await print(io, options.json ? row : text);
    });
}

const toTime = (date: Date | null): string => (date === null ? '-' : `${date.toISOString().slice(0, 19)}Z`);

function applicationTable(rows: readonly Row[]): string {
  return table([
    ['APPLICATION', 'OWNER', 'KEYS', 'LAST USED', 'STATE', 'CONTACT'],
    ...rows.map((row) => [
      row.name,
      row.owner ?? '-',
      String(row.liveKeys),
      toTime(row.lastUsedAt),
      row.archivedAt === null ? 'active' : `archived ${toTime(row.archivedAt)}`,
      row.contact || '-',
    ]),
  ]);
}

function describe(row: Row): string[] {
  return [
    `Application ${row.name}, ${counted(row.liveKeys, 'live key')}`,
    `  owner:        ${row.owner ?? '-'}`,
    `  description:  ${row.description || '-'}`,
    `  contact:      ${row.contact || '-'}`,
    `  last used:    ${toTime(row.lastUsedAt)}`,
    `  state:        ${row.archivedAt === null ? 'active' : `archived ${toTime(row.archivedAt)}`}`,
  ];
}
