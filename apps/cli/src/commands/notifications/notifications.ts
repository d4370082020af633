import type { Channel, ChannelKind, Severity } from '@packhouse/database';
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
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../../terminal/command.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';
import { readSecretLine } from '../../terminal/secret-line.js';
import { toList } from './hooks.js';
import { untilTested } from './until-tested.js';

interface AddOptions extends Place {
  network: string[];
  name: string[];
  severity: Severity;
  quiet: string[];
}

/** More is not read from stdin. */
const MAX_URL = 2_001;

/** `packhouse notifications add|list|set|rotate|test|pause|resume|remove`. */
export function addNotificationsCommand(program: Command, io: CliIo): void {
  const notifications = addCommand(
    program,
    'notifications',
    'Send alarms, missed deadlines, used budgets and failed schedules to people',
    'list',
  );
  const collect = (value: string, all: string[]): string[] => [...all, value];

  addPlacedCommand(
    notifications,
    'add',
    'Add a channel: webhook, slack or email',
    'email ada@example.com --severity critical',
  )
    .argument('<kind>', 'webhook, slack (any receiver of {"text":…}) or email')
    .argument('<address...>', 'URL, or - to read it from stdin; of email one or more addresses')
    .option('--network <name>', 'Only what concerns this network; repeatable', collect, [])
    .option('--name <name>', 'Only alarms of this name; repeatable', collect, [])
    .option('--severity <severity>', 'Lowest severity: warning or critical', 'warning')
    .option('--quiet <hours>', 'Hours in which only what is critical is sent; repeatable', collect, [])
    .action(async (kind: ChannelKind, addresses: string[], options: AddOptions) => {
      const { network: networks, name: names, severity, quiet } = options;
      const target = kind === 'email' ? { recipients: addresses } : { url: await readUrl(io, addresses) };
      const row = await operate(io, options, addNotification, {
        kind,
        ...target,
        networks,
        names,
        severity,
        quiet,
      });
      const lines = [
        `Channel ${row.id} (${row.kind}) added. \`packhouse notifications test ${row.id}\` sends a test.`,
        ...(row.secret === null
          ? []
          : [`Secret: ${row.secret}`, 'It is shown only now: see docs/notifications.md.']),
        ...(row.hint === null ? [] : [row.hint]),
      ];
      await print(io, options.json ? row : lines.join('\n'));
    });

  addPlacedCommand(notifications, 'list', 'List channels with their state', '').action(
    async (options: Place) => {
      const rows = await operate(io, options, listNotifications, {});
      await printRows(io, options, rows, {
        none: 'No channels. Add one: packhouse notifications add --help',
        show: () => channelTable(rows),
      });
    },
  );

  addSetCommand(notifications, io);
  addRotateCommand(notifications, io);

  const one = (
    name: string,
    description: string,
    act: (id: string, options: Place) => Promise<{ row: object; text: string }>,
  ): Command =>
    addPlacedCommand(notifications, name, description, '7')
      .argument('<id>', ID)
      .action(async (id: string, options: Place) => {
        const { row, text } = await act(id, options);
        await print(io, options.json ? row : text);
      });

  one('test', 'Send a test message and print its outcome', async (id, options) => {
    const show = () => operate(io, options, showNotification, { id });
    const before = await show();
    await operate(io, options, testNotification, { id });
    const see = 'packhouse notifications list --json';
    const row = await untilTested(io, { before, what: `channel ${id}`, see }, show);
    return { row, text: row.testOutcome ?? '' };
  });
  one('pause', 'Pause it; what ends meanwhile is never sent', async (id, options) => {
    const row = await operate(io, options, setNotificationState, { id, state: 'paused' });
    return { row, text: `Channel ${id} paused.` };
  });
  one('resume', 'Resume it with what is open now', async (id, options) => {
    const row = await operate(io, options, setNotificationState, { id, state: 'active' });
    return { row, text: `Channel ${id} resumed.` };
  });
  one('remove', 'Remove it', async (id, options) => {
    const row = await operate(io, options, removeNotification, { id });
    return { row, text: `Channel ${id} removed.` };
  });
}

interface SetOptions extends Place {
  to?: string[];
  network?: string[];
  name?: string[];
  severity?: Severity;
  quiet?: string[];
}

function addSetCommand(notifications: Command, io: CliIo): void {
  addPlacedCommand(
    notifications,
    'set',
    'Change where a channel is, or what it is sent',
    '7 --severity critical --quiet none',
  )
    .argument('<id>', ID)
    .option('--to <address...>', 'URL, or - to read it from stdin; of email all addresses')
    .option('--network <name...>', 'Only what concerns these networks, all of them; any: everything')
    .option('--name <name...>', 'Only alarms of these names, all of them; any: all')
    .option('--severity <severity>', 'Lowest severity: warning or critical')
    .option('--quiet <hours...>', 'Hours in which only what is critical is sent, all of them; none: no hours')
    .action(async (id: string, options: SetOptions) => {
      const { name, network, quiet, severity, to } = options;
      if ([name, network, quiet, severity, to].every((value) => value === undefined))
        throw usageError('No change is given.', 'For example --severity critical. See --help.');
      const { kind } = await operate(io, options, showNotification, { id });
      const target =
        to === undefined ? {} : kind === 'email' ? { recipients: to } : { url: await readUrl(io, to) };
      const row = await operate(io, options, setNotification, {
        id,
        ...target,
        networks: toList(network),
        names: toList(name),
        severity,
        quiet: quiet?.join() === 'none' ? [] : quiet,
      });
      const lines = [`Channel ${id} changed.`, ...(row.hint === null ? [] : [row.hint])];
      await print(io, options.json ? row : lines.join('\n'));
    });
}

function addRotateCommand(notifications: Command, io: CliIo): void {
  addPlacedCommand(
    notifications,
    'rotate',
    'Make a new secret of a webhook, shown once; the old one signs too for a while',
    '7 --overlap 24',
  )
    .argument('<id>', ID)
    .option('--overlap <hours>', 'Hours for which the old secret signs too, 0 to 168', '24')
    .action(async (id: string, options: Place & { overlap: string }) => {
      const row = await operate(io, options, rotateNotification, { id, overlapHours: options.overlap });
      const text = `Secret: ${row.secret}\nThe old secret signs too for ${options.overlap} hours.`;
      await print(io, options.json ? row : text);
    });
}

const ID = 'Number in `packhouse notifications list`';

/** The one URL that is given, or the first line of stdin, so that no secret is on a command line. */
async function readUrl(io: CliIo, addresses: readonly string[]): Promise<string> {
  const [url = '', ...more] = addresses;
  if (more.length > 0) throw usageError('A channel of this kind takes one URL.', 'Add a channel for each.');
  return url === '-' ? (await readSecretLine(io, 'URL', MAX_URL)).trim() : url;
}

function channelTable(rows: readonly Channel[]): string {
  const lines = rows.map((row) => [
    String(row.id),
    row.kind,
    row.failingSince !== null && row.state === 'active' ? 'failing' : row.state,
    row.kind === 'email' ? row.recipients.join(' ') : row.host,
    row.networks.join(' ') || 'all',
    row.names.join(' ') || row.severity,
    row.quiet.join('; '),
    row.deliveredAt === null ? '-' : `${row.deliveredAt.toISOString().slice(0, 19)}Z`,
    row.lastError ?? '',
  ]);
  const head = ['ID', 'KIND', 'STATE', 'TO', 'NETWORKS', 'WHAT', 'QUIET', 'LAST', 'LAST ERROR'];
  return table([head, ...lines]);
}
