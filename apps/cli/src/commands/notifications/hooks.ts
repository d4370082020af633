import { isIP } from 'node:net';
import type { Hook } from '@packhouse/database';
import {
  addHook,
  listHooks,
  removeHook,
  rotateHook,
  setHook,
  setHookState,
  showHook,
  testHook,
} from '@packhouse/operations';
import type { Command } from 'commander';
import { operate, readAllRows } from '../../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../../terminal/command.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { parseKinds, usageError } from '../../terminal/parse.js';
import { untilTested } from './until-tested.js';

interface AddOptions extends Place {
  network?: string;
  kinds: string;
  final?: boolean;
  from?: string;
  address: string[];
  topic: string[];
}

/** `packhouse hooks add|list|show|set|test|pause|resume|rotate|remove`. */
export function addHooksCommand(program: Command, io: CliIo): void {
  const hooks = addCommand(program, 'hooks', 'Send new blocks, undone blocks and files to webhooks', 'list');
  const collect = (value: string, all: string[]): string[] => [...all, value];

  addPlacedCommand(
    hooks,
    'add',
    'Add a webhook; prints the secret that signs its deliveries, once',
    'https://example.com/packhouse --network ethereum --kinds logs --address 0xdac17f958d2ee523a2206206994597c13d831ec7',
  )
    .argument('<url>', 'Address of the receiver, https://…')
    .option('--network <name>', 'Network (default: the only one)')
    .requiredOption('--kinds <list>', 'Comma-separated kinds')
    .option('--final', 'Only blocks that can no longer be undone')
    .option('--from <block>', 'First block (default: the next new one)')
    .option('--address <address>', 'Only blocks with logs of this contract; repeatable', collect, [])
    .option('--topic <hash>', 'Only blocks with logs of this first topic; repeatable', collect, [])
    .action(async (url: string, options: AddOptions) => {
      const { network, from, final, address: addresses, topic: topics } = options;
      const kinds = parseKinds(options.kinds);
      const input = { url, network, kinds, from, finalOnly: final ?? false, addresses, topics };
      const row = await operate(io, options, addHook, input);
      const lines = [
        `Webhook ${row.id} of ${row.network} added, from block ${row.from} on.`,
        `Secret: ${row.secret}`,
        'It is shown only now. The receiver checks signatures with it: see docs/webhooks.md.',
        ...(mayBePrivate(new URL(row.url))
          ? [
              `Packers deliver to such an address only if their HOOK_ALLOWED_ADDRESSES names it: \`packhouse hooks test ${row.id}\` shows whether they do.`,
            ]
          : []),
      ];
      await print(io, options.json ? row : lines.join('\n'));
    });

  addPlacedCommand(hooks, 'list', 'List webhooks with their state', '--network ethereum')
    .option('--network <name>', 'Only this network')
    .action(async (options: Place & { network?: string }) => {
      const rows = await readAllRows(io, options, listHooks, { network: options.network });
      await printRows(io, options, rows, { none: 'No webhooks.', show: () => hookTable(rows) });
    });

  const one = (
    name: string,
    description: string,
    act: (id: string, options: Place) => Promise<void>,
  ): Command =>
    addPlacedCommand(hooks, name, description, '7')
      .argument('<id>', 'Number in `packhouse hooks list`')
      .action(async (id: string, options: Place) => act(id, options));
  const show = async (options: Place, row: object, text: string): Promise<void> =>
    void (await print(io, options.json ? row : text));

  one('show', 'Show one webhook: what it is sent, and why it fails', async (id, options) => {
    const row = await operate(io, options, showHook, { id });
    await show(options, row, describeHook(row));
  });
  one('test', 'Send a test delivery and print its outcome', async (id, options) => {
    const before = await operate(io, options, showHook, { id });
    await operate(io, options, testHook, { id });
    const see = `packhouse hooks show ${id}`;
    const row = await untilTested(io, { before, what: `webhook ${id}`, see }, () =>
      operate(io, options, showHook, { id }),
    );
    await show(options, row, row.testOutcome ?? '');
  });
  addSetCommand(hooks, io);
  one('pause', 'Pause it', async (id, options) => {
    const row = await operate(io, options, setHookState, { id, state: 'paused' });
    await show(options, row, `Webhook ${id} paused.`);
  });
  one('resume', 'Resume it where it stopped, also from quarantine', async (id, options) => {
    const row = await operate(io, options, setHookState, { id, state: 'active' });
    await show(options, row, `Webhook ${id} resumed.`);
  });
  one('remove', 'Remove it; a delivery that was begun may still arrive', async (id, options) => {
    const row = await operate(io, options, removeHook, { id });
    await show(options, row, `Webhook ${id} removed.`);
  });
  addPlacedCommand(
    hooks,
    'rotate',
    'Make a new secret, shown once; the old one signs too for a while',
    '7 --overlap 24',
  )
    .argument('<id>', 'Number in `packhouse hooks list`')
    .option('--overlap <hours>', 'Hours for which the old secret signs too, 0 to 168', '24')
    .action(async (id: string, options: Place & { overlap: string }) => {
      const row = await operate(io, options, rotateHook, { id, overlapHours: options.overlap });
      await show(
        options,
        row,
        `Secret: ${row.secret}\nThe old secret signs too for ${options.overlap} hours.`,
      );
    });
}

const SENT = ' of what is sent, all of them; any: all';

function addSetCommand(hooks: Command, io: CliIo): void {
  addPlacedCommand(
    hooks,
    'set',
    'Change address, kinds or filter, from the next delivery on',
    '7 --url https://example.com/in --topic any',
  )
    .argument('<id>', 'Number in `packhouse hooks list`')
    .option('--url <url>', 'Address of the receiver, https://…')
    .option('--kinds <list>', 'Comma-separated kinds')
    .option('--address <address...>', `Contracts${SENT}`)
    .option('--topic <hash...>', `First topics${SENT}`)
    .action(async (id: string, options: SetOptions) => {
      const { address, kinds, topic, url } = options;
      const input = {
        url,
        kinds: kinds === undefined ? undefined : parseKinds(kinds),
        addresses: toList(address),
        topics: toList(topic),
      };
      if (Object.values(input).every((value) => value === undefined))
        throw usageError('No change is given.', 'For example --url https://example.com/in. See --help.');
      const row = await operate(io, options, setHook, { id, ...input });
      const to = new URL(row.url).host;
      await print(io, options.json ? row : `Webhook ${id} changed: ${row.kinds.join(', ')} to ${to}.`);
    });
}

interface SetOptions extends Place {
  url?: string;
  kinds?: string;
  address?: string[];
  topic?: string[];
}

/** `any` alone: none. */
export function toList(values: string[] | undefined): string[] | undefined {
  return values?.length === 1 && values[0] === 'any' ? [] : values;
}

/** Whether it can be seen without DNS that perhaps not every packer delivers there. */
function mayBePrivate({ protocol, hostname, port }: URL): boolean {
  const isAddress = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0 || hostname === 'localhost';
  return protocol !== 'https:' || isAddress || (port !== '' && port !== '80');
}

function hookTable(rows: readonly Hook[]): string {
  const lines = rows.map((row) => [
    String(row.id),
    row.network,
    row.kinds.join(','),
    row.failingSince !== null && row.state === 'active' ? 'failing' : row.state,
    String(row.delivered),
    row.deliveredAt === null ? '-' : formatTime(row.deliveredAt),
    new URL(row.url).host,
    row.lastError ?? '',
  ]);
  return table([['ID', 'NETWORK', 'KINDS', 'STATE', 'DELIVERED', 'LAST', 'HOST', 'LAST ERROR'], ...lines]);
}

function describeHook(row: Hook): string {
  const lines = [
    ['Address', row.url],
    ['Network', row.network],
    ['Kinds', row.kinds.join(', ')],
    ['Blocks', `${row.finalOnly ? 'final ones ' : ''}from ${row.from}`],
    ['Addresses', row.addresses.join(', ')],
    ['Topics', row.topics.join(', ')],
    ['State', row.state],
    [
      'Delivered',
      `${row.delivered}${row.deliveredAt === null ? '' : `, last ${formatTime(row.deliveredAt)}`}`,
    ],
    [
      'Failing',
      row.failingSince === null ? '' : `since ${formatTime(row.failingSince)}, ${row.failures} tries`,
    ],
    ['Last error', row.lastError ?? ''],
    ['Next try', row.failingSince === null || row.dueAt === null ? '' : formatTime(row.dueAt)],
    ['Last test', row.testedAt === null ? '' : `${formatTime(row.testedAt)}: ${row.testOutcome}`],
    ['Old secret', row.oldSecretUntil === null ? '' : `signs until ${formatTime(row.oldSecretUntil)}`],
  ].filter(([, value]) => value !== '');
  return table(lines as string[][]);
}

function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
