import type { Channel, Database } from '@packhouse/database';
import { makeHookSalt, sealAddress, toHookSecret } from '@packhouse/delivery';
import { parseTimeWindow } from '@packhouse/pipeline';
import { z } from 'zod';
import { expectedField, refuseChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import { networkField, withoutUndefined } from '../operation/fields.js';
import { change, read } from '../operation/operation.js';
import { createReceiverOperations, idField, readReceiverUrl } from '../operation/receivers.js';

/** Channels of an installation. */
const MAX_CHANNELS = 100;
const MAX_URL = 2_000;
const MAX_RECIPIENTS = 20;
/** Networks, names and windows of a filter. */
const MAX_LISTED = 100;
const MAX_WINDOWS = 20;

/** A mailbox; without quotes and comments, so that it is one address wherever it is written. */
const recipientField = z
  .string()
  .max(254)
  .regex(
    /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/,
    'takes addresses such as ada@example.com',
  );

export const listNotifications = read({
  name: 'notifications',
  role: 'operator',
  summary: 'The channels of notifications with their state.',
  run: ({ database }): Promise<Channel[]> => database.channels.list(),
});

export const {
  find,
  show: showNotification,
  setState: setNotificationState,
  rotate: rotateNotification,
  test: testNotification,
  remove: removeNotification,
} = createReceiverOperations({
  name: 'notifications',
  texts: {
    show: 'One channel of notifications: what it is sent, and why it fails.',
    state: 'Pauses a channel of notifications, or resumes it with what is open then.',
    rotate: 'Makes a new secret of a webhook channel, shown only once; the old one signs too for some hours.',
    test: 'Sends a test message within seconds; the channel then has its outcome.',
    remove: 'Removes a channel of notifications; a message that was begun may still arrive.',
  },
  of: ({ channels }) => channels,
  failUnknown,
  checkSecret: ({ id, kind }) => {
    if (kind === 'webhook') return;
    fail('NOTIFICATION_INVALID', `Channel ${id} is of kind ${kind}, which has no secret to rotate.`);
  },
});

const fields = {
  recipients: z.array(recipientField).max(MAX_RECIPIENTS).describe('of email'),
  networks: z
    .array(networkField)
    .max(MAX_LISTED)
    .describe('only what concerns these networks; none: everything'),
  names: z
    .array(z.string().regex(/^[A-Z][A-Z0-9_]{1,63}$/, 'takes names such as STANDSTILL'))
    .max(MAX_LISTED)
    .describe('only these alarms; none: all'),
  severity: z.enum(['warning', 'critical'], 'takes warning or critical'),
  quiet: z
    .array(z.string().min(1).max(200))
    .max(MAX_WINDOWS)
    .describe('hours in which only what is critical is sent, e.g. 22:00-07:00 Europe/Berlin'),
};
const urlField = z.string().max(MAX_URL).optional().describe('of webhook and slack, https://…');

export const addNotification = change({
  name: 'notifications/add',
  role: 'operator',
  summary: 'Adds a channel of notifications; the secret of a webhook is shown only once, an address never.',
  input: z.object({
    kind: z.enum(['webhook', 'slack', 'email'], 'takes webhook, slack or email'),
    url: urlField,
    recipients: fields.recipients.default([]),
    networks: fields.networks.default([]),
    names: fields.names.default([]),
    severity: fields.severity.default('warning'),
    quiet: fields.quiet.default([]),
  }),
  run: async ({ actor, database }, { kind, url, recipients, networks, names, severity, quiet }) => {
    const address = checkAddress(kind, url, recipients);
    await checkNetworks(database, networks);
    if ((await database.channels.count()) >= MAX_CHANNELS) {
      fail('NOTIFICATION_INVALID', `There are ${MAX_CHANNELS} channels already, the limit.`, 'Remove some.');
    }
    const seal = await database.operators.seal();
    const salt = makeHookSalt();
    const row = await database.channels.add(
      {
        kind,
        host: address?.host ?? '',
        address: address === null ? null : sealAddress(seal, address.href),
        recipients: [...new Set(recipients)],
        salt,
        networks: [...new Set(networks)],
        names: [...new Set(names)],
        severity,
        quiet: quiet.map((text) => parseTimeWindow(text).text),
      },
      actor,
    );
    const secret = kind === 'webhook' ? toHookSecret(seal, salt) : null;
    return { ...row, secret, hint: await getHint(database, kind) };
  },
});

export const setNotification = change({
  name: 'notifications/set',
  role: 'operator',
  summary:
    'Changes where a channel of notifications is, and what it is sent; a message that was begun goes to the new address.',
  input: z.object({
    id: idField,
    url: urlField,
    ...z.object(fields).partial().shape,
    expected: expectedField(fields),
  }),
  run: async ({ actor, database }, { id, url, expected, ...given }) => {
    const { kind } = await find(database, id);
    if (url !== undefined || given.recipients !== undefined) checkAddress(kind, url, given.recipients ?? []);
    if (given.networks !== undefined) await checkNetworks(database, given.networks);
    const quiet = given.quiet?.map((text) => parseTimeWindow(text).text);
    const address = url === undefined ? null : new URL(url);
    const seal = address === null ? null : await database.operators.seal();
    const row = await database.channels.change(
      id,
      (before) => {
        refuseChanged(`Channel ${id}`, { ...before }, expected);
        const after = { ...before, ...withoutUndefined({ ...given, quiet }) };
        return {
          ...after,
          host: address?.host ?? before.host,
          address: address === null || seal === null ? undefined : sealAddress(seal, address.href),
          recipients: [...new Set(after.recipients)],
          networks: [...new Set(after.networks)],
          names: [...new Set(after.names)],
        };
      },
      actor,
    );
    if (row === null) failUnknown(id);
    return { ...row, hint: await getHint(database, kind) };
  },
});

/** Why a channel will not be sent anything as things are; null: nothing speaks against it. */
async function getHint(database: Database, kind: Channel['kind']): Promise<string | null> {
  if (kind !== 'email') return null;
  const packers = (await database.workers.list()).filter(({ role }) => role === 'packer');
  const able = packers.filter(({ sendsMail }) => sendsMail === true).length;
  if (packers.length === 0) return 'No packer runs now: packers with SMTP_URL and SMTP_FROM send e-mail.';
  if (able === 0) return 'No packer has an SMTP server: set SMTP_URL and SMTP_FROM of the packers.';
  if (able === packers.length) return null;
  return `${packers.length - able} of ${packers.length} packers have no SMTP server, and one of them may be the one that sends: set SMTP_URL and SMTP_FROM of all.`;
}

/** Throws NETWORK_UNKNOWN. */
async function checkNetworks(database: Database, networks: readonly string[]): Promise<void> {
  if (networks.length === 0) return;
  const known = new Set((await database.networks.list()).map(({ id }) => id));
  const unknown = networks.find((network) => !known.has(network));
  if (unknown !== undefined) fail('NETWORK_UNKNOWN', `Unknown network "${unknown}".`);
}

/** Throws NOTIFICATION_UNKNOWN. */
function failUnknown(id: number): never {
  fail('NOTIFICATION_UNKNOWN', `Unknown channel ${id}.`, 'See `packhouse notifications list`.');
}

/** The address of a channel; null: e-mail. Its path may be a secret, so no error shows it. Throws NOTIFICATION_INVALID. */
function checkAddress(
  kind: Channel['kind'],
  text: string | undefined,
  recipients: readonly string[],
): URL | null {
  if (kind === 'email') {
    if (text === undefined && recipients.length > 0) return null;
    fail('NOTIFICATION_INVALID', 'A channel of kind email takes recipients, and no URL.');
  }
  if (text === undefined || recipients.length > 0) {
    fail('NOTIFICATION_INVALID', `A channel of kind ${kind} takes a URL, and no recipients.`);
  }
  const hints = [undefined, 'Leave them out.'] as const;
  return readReceiverUrl(text, { code: 'NOTIFICATION_INVALID', what: 'The URL of a channel', hints });
}
