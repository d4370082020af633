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
import { list, one, resource } from '../../installation/resource.js';
import { formatTime } from '../../terminal/format.js';
import { parseKinds } from '../../terminal/parse.js';
import { table } from '../../terminal/table.js';
import { untilTested } from './until-tested.js';

const ID = ['<id>', 'Number in `packhouse hooks list`'] as const;
const KINDS = ['--kinds <list>', 'Comma-separated kinds', { read: parseKinds }] as const;
const SENT = ' of what is sent, all of them; any: all';
const ONE = { examples: ['7'], fields: { id: ID } };

export const addHooksCommand = resource(
  'hooks',
  'Send new blocks, undone blocks and files to webhooks',
  'list',
  {
    add: one(addHook, {
      about: 'Add a webhook; prints the secret that signs its deliveries, once',
      examples: [
        'https://example.com/packhouse --network ethereum --kinds logs --address 0xdac17f958d2ee523a2206206994597c13d831ec7',
      ],
      fields: {
        url: ['<url>', 'Address of the receiver, https://…'],
        network: ['--network <name>', 'Network (default: the only one)'],
        kinds: KINDS,
        finalOnly: ['--final'],
        from: ['--from <block>', 'First block (default: the next new one)'],
        addresses: ['--address <address>', 'Only blocks with logs of this contract; repeatable'],
        topics: ['--topic <hash>', 'Only blocks with logs of this first topic; repeatable'],
      },
      say: (row) => [
        `Webhook ${row.id} of ${row.network} added, from block ${row.from} on.`,
        `Secret: ${row.secret}`,
        'It is shown only now. The receiver checks signatures with it: see docs/webhooks.md.',
        ...(mayBePrivate(new URL(row.url))
          ? [
              `Packers deliver to such an address only if their HOOK_ALLOWED_ADDRESSES names it: \`packhouse hooks test ${row.id}\` shows whether they do.`,
            ]
          : []),
      ],
    }),
    list: list(listHooks, {
      about: 'List webhooks with their state',
      examples: ['--network ethereum'],
      fields: { network: ['--network <name>', 'Only this network'] },
      empty: 'No webhooks.',
      columns: {
        ID: (row) => row.id,
        NETWORK: (row) => row.network,
        KINDS: (row) => row.kinds.join(','),
        STATE: (row) => (row.failingSince !== null && row.state === 'active' ? 'failing' : row.state),
        DELIVERED: (row) => row.delivered,
        LAST: (row) => row.deliveredAt,
        HOST: (row) => new URL(row.url).host,
        'LAST ERROR': (row) => row.lastError ?? '',
      },
    }),
    show: one(showHook, {
      ...ONE,
      about: 'Show one webhook: what it is sent, and why it fails',
      say: describeHook,
    }),
    test: one(showHook, {
      ...ONE,
      about: 'Send a test delivery and print its outcome',
      async toRow(before, { id }, { io, run }) {
        await run(testHook, { id });
        const asked = { before, what: `webhook ${id}`, see: `packhouse hooks show ${id}` };
        return untilTested(io, asked, () => run(showHook, { id }));
      },
      say: (row) => row.testOutcome ?? '',
    }),
    set: one(setHook, {
      about: 'Change address, kinds or filter, from the next delivery on',
      examples: ['7 --url https://example.com/in --topic any'],
      none: 'any',
      change: 'For example --url https://example.com/in. See --help.',
      fields: {
        id: ID,
        url: ['--url <url>', 'Address of the receiver, https://…'],
        kinds: KINDS,
        addresses: ['--address <address...>', `Contracts${SENT}`],
        topics: ['--topic <hash...>', `First topics${SENT}`],
      },
      say: ({ id, kinds, url }) => `Webhook ${id} changed: ${kinds.join(', ')} to ${new URL(url).host}.`,
    }),
    pause: one(setHookState, {
      ...ONE,
      about: 'Pause it',
      fixed: { state: 'paused' },
      say: (_, { id }) => `Webhook ${id} paused.`,
    }),
    resume: one(setHookState, {
      ...ONE,
      about: 'Resume it where it stopped, also from quarantine',
      fixed: { state: 'active' },
      say: (_, { id }) => `Webhook ${id} resumed.`,
    }),
    remove: one(removeHook, {
      ...ONE,
      about: 'Remove it; a delivery that was begun may still arrive',
      say: ({ id }) => `Webhook ${id} removed.`,
    }),
    rotate: one(rotateHook, {
      about: 'Make a new secret, shown once; the old one signs too for a while',
      examples: ['7 --overlap 24'],
      fields: {
        id: ID,
        overlapHours: ['--overlap <hours>', 'Hours for which the old secret signs too, 0 to 168'],
      },
      say: ({ secret }, { overlapHours }) =>
        `Secret: ${secret}\nThe old secret signs too for ${overlapHours} hours.`,
    }),
  },
);

/** Whether it can be seen without DNS that perhaps not every packer delivers there. */
function mayBePrivate({ protocol, hostname, port }: URL): boolean {
  const isAddress = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0 || hostname === 'localhost';
  return protocol !== 'https:' || isAddress || (port !== '' && port !== '80');
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
