import {
  addNotification,
  listNotifications,
  removeNotification,
  rotateNotification,
  setNotification,
  setNotificationState,
  showNotification,
  testNotification,
} from '@packhouse/operations';
import { list, one, resource } from '../../installation/resource.js';
import type { CliIo } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';
import { readSecretLine } from '../../terminal/secret-line.js';
import { untilTested } from './until-tested.js';

/** More is not read from stdin. */
const MAX_URL = 2_001;

const ID = ['<id>', 'Number in `packhouse notifications list`'] as const;
const ONE = { examples: ['7'], fields: { id: ID } };

export const addNotificationsCommand = resource(
  'notifications',
  'Send alarms, missed deadlines, used budgets and failed schedules to people',
  'list',
  {
    add: one(addNotification, {
      about: 'Add a channel: webhook, slack or email',
      examples: ['email ada@example.com --severity critical'],
      fields: {
        kind: ['<kind>', 'webhook, slack (any receiver of {"text":…}) or email'],
        recipients: ['<address...>', 'URL, or - to read it from stdin; of email one or more addresses'],
        networks: ['--network <name>', 'Only what concerns this network; repeatable'],
        names: ['--name <name>', 'Only alarms of this name; repeatable'],
        severity: ['--severity <severity>', 'Lowest severity: warning or critical'],
        quiet: ['--quiet <hours>', 'Hours in which only what is critical is sent; repeatable'],
      },
      toInput: ({ recipients, ...given }, { io }) => toTarget(io, given, given.kind, recipients),
      say: ({ hint, id, kind, secret }) => [
        `Channel ${id} (${kind}) added. \`packhouse notifications test ${id}\` sends a test.`,
        ...(secret === null ? [] : [`Secret: ${secret}`, 'It is shown only now: see docs/notifications.md.']),
        ...(hint === null ? [] : [hint]),
      ],
    }),
    list: list(listNotifications, {
      about: 'List channels with their state',
      empty: 'No channels. Add one: packhouse notifications add --help',
      columns: {
        ID: (row) => row.id,
        KIND: (row) => row.kind,
        STATE: (row) => (row.failingSince !== null && row.state === 'active' ? 'failing' : row.state),
        TO: (row) => (row.kind === 'email' ? row.recipients.join(' ') : row.host),
        NETWORKS: (row) => row.networks.join(' ') || 'all',
        WHAT: (row) => row.names.join(' ') || row.severity,
        QUIET: (row) => row.quiet.join('; '),
        LAST: (row) => row.deliveredAt,
        'LAST ERROR': (row) => row.lastError ?? '',
      },
    }),
    set: one(setNotification, {
      about: 'Change where a channel is, or what it is sent',
      examples: ['7 --severity critical --quiet none'],
      none: 'any',
      change: 'For example --severity critical. See --help.',
      fields: {
        id: ID,
        recipients: ['--to <address...>', 'URL, or - to read it from stdin; of email all addresses'],
        networks: ['--network <name...>', 'Only what concerns these networks, all of them; any: everything'],
        names: ['--name <name...>', 'Only alarms of these names, all of them; any: all'],
        severity: ['--severity <severity>', 'Lowest severity: warning or critical'],
        quiet: [
          '--quiet <hours...>',
          'Hours in which only what is critical is sent, all of them; none: no hours',
          { none: 'none' },
        ],
      },
      async toInput({ recipients, ...given }, { io, run }) {
        const { kind } = await run(showNotification, { id: given.id });
        return toTarget(io, given, kind, recipients);
      },
      say: ({ hint, id }) => [`Channel ${id} changed.`, ...(hint === null ? [] : [hint])],
    }),
    rotate: one(rotateNotification, {
      about: 'Make a new secret of a webhook, shown once; the old one signs too for a while',
      examples: ['7 --overlap 24'],
      fields: {
        id: ID,
        overlapHours: ['--overlap <hours>', 'Hours for which the old secret signs too, 0 to 168'],
      },
      say: ({ secret }, { overlapHours }) =>
        `Secret: ${secret}\nThe old secret signs too for ${overlapHours} hours.`,
    }),
    test: one(showNotification, {
      ...ONE,
      about: 'Send a test message and print its outcome',
      async toRow(before, { id }, { io, run }) {
        await run(testNotification, { id });
        const asked = { before, what: `channel ${id}`, see: 'packhouse notifications list --json' };
        return untilTested(io, asked, () => run(showNotification, { id }));
      },
      say: (row) => row.testOutcome ?? '',
    }),
    pause: one(setNotificationState, {
      ...ONE,
      about: 'Pause it; what ends meanwhile is never sent',
      fixed: { state: 'paused' },
      say: (_, { id }) => `Channel ${id} paused.`,
    }),
    resume: one(setNotificationState, {
      ...ONE,
      about: 'Resume it with what is open now',
      fixed: { state: 'active' },
      say: (_, { id }) => `Channel ${id} resumed.`,
    }),
    remove: one(removeNotification, {
      ...ONE,
      about: 'Remove it',
      say: ({ id }) => `Channel ${id} removed.`,
    }),
  },
);

/** The given fields with the target of a channel: its recipients, or its URL. */
async function toTarget<T extends object>(
  io: CliIo,
  given: T,
  kind: unknown,
  to: readonly string[] | undefined,
): Promise<T & { recipients?: string[]; url?: string }> {
  if (to === undefined) return given;
  return kind === 'email' ? { ...given, recipients: [...to] } : { ...given, url: await readUrl(io, to) };
}

/** The one URL that is given, or the first line of stdin, so that no secret is on a command line. */
async function readUrl(io: CliIo, addresses: readonly string[]): Promise<string> {
  const [url = '', ...more] = addresses;
  if (more.length > 0) throw usageError('A channel of this kind takes one URL.', 'Add a channel for each.');
  return url === '-' ? (await readSecretLine(io, 'URL', MAX_URL)).trim() : url;
}
