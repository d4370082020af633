import {
  addApplication,
  archiveApplication,
  listApplications,
  restoreApplication,
  restrictApplication,
  setApplication,
  showApplication,
} from '@packhouse/operations';
import { list, one, resource } from '../../installation/resource.js';
import { counted, formatTime } from '../../terminal/format.js';
import { RESTRICTIONS } from './restrictions.js';

type Row = Awaited<ReturnType<typeof showApplication.run>>;

const NAME = ['<name>', 'Name of the application'] as const;
const TERMS = {
  description: ['--description <text>', 'What it is for, up to 1000 characters'],
  contact: ['--contact <text>', 'Whom operators ask, up to 200 characters'],
} as const;
const ONE = { examples: ['shop'], fields: { application: NAME } };

export const addApplicationsCommand = resource(
  'applications',
  'List, create, change and archive applications, which API keys belong to',
  'add shop --owner ada --contact "#shop"',
  {
    list: list(listApplications, {
      about: 'List applications with their live keys',
      examples: ['--owner ada'],
      fields: {
        search: [
          '--search <text>',
          'Only those whose name contains this, or with a key whose prefix begins with it',
        ],
        owner: ['--owner <name>'],
        archived: ['--archived'],
      },
      empty: 'No applications. Create one: packhouse applications add NAME',
      columns: {
        APPLICATION: (row) => row.name,
        OWNER: (row) => row.owner,
        KEYS: (row) => row.liveKeys,
        'LAST USED': (row) => row.lastUsedAt,
        STATE: toState,
        CONTACT: (row) => row.contact || null,
      },
    }),
    show: one(showApplication, {
      ...ONE,
      about: 'Show an application',
      say: describe,
    }),
    add: one(addApplication, {
      about: 'Create an application; its name does not change',
      examples: ['shop --owner ada'],
      fields: { name: NAME, owner: ['--owner <name>', 'Account that manages it'], ...TERMS },
      say: ({ name }) =>
        `Application ${name} created. Create a key: packhouse keys create --application ${JSON.stringify(name)}`,
    }),
    set: one(setApplication, {
      about: 'Change owner, description or contact; what is not given stays',
      examples: ['shop --owner ada'],
      none: 'any',
      change: 'Give --owner, --description or --contact.',
      fields: {
        application: NAME,
        owner: ['--owner <name>', 'Account that manages it; any: none'],
        ...TERMS,
      },
      say: describe,
    }),
    restrict: one(restrictApplication, {
      about: 'Restrict all keys of an application at once; what is not given stays',
      examples: ['shop --origin https://*.example.com --method any'],
      none: 'any',
      fields: { application: NAME, ...RESTRICTIONS },
      say: (row) => `${counted(row.keys.length, 'key')} of ${row.application} restricted.`,
    }),
    archive: one(archiveApplication, {
      ...ONE,
      about: 'Archive an application; all its keys are revoked for good',
      say: (row) => `Application ${row.name} archived, ${counted(row.revoked, 'key')} revoked.`,
    }),
    restore: one(restoreApplication, {
      ...ONE,
      about: 'Take an archived application back into use; its keys stay revoked',
      say: (row) => `Application ${row.name} is in use again.`,
    }),
  },
);

function toState({ archivedAt }: Row): string {
  return archivedAt === null ? 'active' : `archived ${formatTime(archivedAt)}`;
}

function describe(row: Row): string[] {
  return [
    `Application ${row.name}, ${counted(row.liveKeys, 'live key')}`,
    `  owner:        ${row.owner ?? '-'}`,
    `  description:  ${row.description || '-'}`,
    `  contact:      ${row.contact || '-'}`,
    `  last used:    ${row.lastUsedAt === null ? '-' : formatTime(row.lastUsedAt)}`,
    `  state:        ${toState(row)}`,
  ];
}
