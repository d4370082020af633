import { KINDS } from '@packhouse/chain';
import type { Hook, HookTerms } from '@packhouse/database';
import { makeHookSalt, toHookSecret } from '@packhouse/delivery';
import { z } from 'zod';
import { expectedField, refuseChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import {
  blockField,
  flagField,
  limitField,
  networkField,
  numberField,
  withoutUndefined,
} from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { change, read } from '../operation/operation.js';
import { createReceiverOperations, idField, readReceiverUrl } from '../operation/receivers.js';

/** Webhooks of an installation. */
const MAX_HOOKS = 10_000;
const MAX_URL = 2_000;
/** Accounts, and topics, of a filter. */
const MAX_LISTED = 100;

const hexField = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`), `takes 0x and ${2 * bytes} hex digits`)
    .transform((text) => text.toLowerCase());

export const listHooks = read({
  name: 'hooks',
  role: 'operator',
  summary: 'The webhooks by number, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    after: numberField(0, Number.MAX_SAFE_INTEGER).optional().describe('webhooks after this number'),
    limit: limitField(100, 1_000),
  }),
  run: async ({ database }, { network, after, limit }) => {
    const found = await database.hooks.list({ network, after, limit: limit + 1 });
    return { rows: found.slice(0, limit), more: found.length > limit };
  },
});

export const {
  show: showHook,
  setState: setHookState,
  rotate: rotateHook,
  test: testHook,
  remove: removeHook,
} = createReceiverOperations({
  name: 'hooks',
  texts: {
    show: 'One webhook: what it is sent, what it accepted, and why it fails.',
    state: 'Pauses a webhook, or resumes a paused or quarantined one where it stopped.',
    rotate: 'Makes a new secret, shown only once; the old one signs too for some hours.',
    test: 'Sends a test delivery within seconds; the webhook then has its outcome.',
    remove: 'Removes a webhook; a delivery that was begun may still arrive.',
  },
  of: ({ hooks }) => hooks,
  failUnknown,
});

const listFields = {
  addresses: z.array(hexField(20)).max(MAX_LISTED).describe('only blocks with logs of these accounts'),
  topics: z.array(hexField(32)).max(MAX_LISTED).describe('only blocks with logs of these first topics'),
};
const urlField = z.string().max(MAX_URL).describe('where deliveries are sent, https://…');
const kindsField = z.array(z.enum(KINDS)).min(1).max(KINDS.length);

export const addHook = change({
  name: 'hooks/add',
  role: 'operator',
  summary: 'Sends the feed of a network to an address, signed with a secret that is shown only once.',
  input: z.object({
    url: urlField,
    network: networkField.optional(),
    kinds: kindsField,
    finalOnly: flagField.default(false).describe('only blocks that can no longer be undone'),
    from: blockField.optional().describe('the first block; default: the next new one'),
    addresses: listFields.addresses.default([]),
    topics: listFields.topics.default([]),
  }),
  run: async ({ actor, database }, { url, network: named, kinds, finalOnly, from, addresses, topics }) => {
    checkUrl(url);
    checkFilter({ kinds, addresses, topics });
    const network = await findNetwork(database, named);
    if ((await database.hooks.count()) >= MAX_HOOKS) {
      fail('HOOK_INVALID', `There are ${MAX_HOOKS} webhooks already, the limit.`, 'Remove some.');
    }
    const salt = makeHookSalt();
    const head = await database.network(network).head.get();
    const row = await database.hooks.add(
      {
        network,
        url,
        ...toFilter({ kinds, addresses, topics }),
        finalOnly,
        from: from ?? (head === null ? 0 : head.number + 1),
        salt,
      },
      actor,
    );
    if (row === null) fail('NETWORK_UNKNOWN', `Unknown network "${network}".`);
    return { secret: toHookSecret(await database.operators.seal(), salt), ...row };
  },
});

export const setHook = change({
  name: 'hooks/set',
  role: 'operator',
  summary:
    'Changes address, kinds and filter of a webhook, from the next delivery on; one that was begun goes to the new address as it is.',
  input: z.object({
    id: idField,
    url: urlField.optional(),
    kinds: kindsField.optional(),
    addresses: listFields.addresses.optional(),
    topics: listFields.topics.optional(),
    expected: expectedField({ url: z.string(), kinds: kindsField, ...listFields }),
  }),
  run: async ({ actor, database }, { id, expected, ...given }) => {
    if (given.url !== undefined) checkUrl(given.url);
    const work = (before: Hook): HookTerms => {
      refuseChanged(`Webhook ${id}`, { ...before }, expected);
      const after = { ...before, ...withoutUndefined(given) };
      checkFilter(after);
      return { url: after.url, ...toFilter(after) };
    };
    return (await database.hooks.change(id, work, actor)) ?? failUnknown(id);
  },
});

type Filter = Pick<HookTerms, 'kinds' | 'addresses' | 'topics'>;

/** Each once, kinds in their order. */
const toFilter = ({ kinds, addresses, topics }: Filter): Filter => ({
  kinds: KINDS.filter((kind) => kinds.includes(kind)),
  addresses: [...new Set(addresses)],
  topics: [...new Set(topics)],
});

/** Throws HOOK_INVALID. */
function checkFilter({ kinds, addresses, topics }: Filter): void {
  if (addresses.length + topics.length === 0 || kinds.every((kind) => kind === 'logs')) return;
  fail(
    'HOOK_INVALID',
    'A webhook with addresses or topics is sent logs, and other kinds were requested.',
    'Request the kind logs alone; the links of other kinds are those of the same blocks.',
  );
}

/** Throws HOOK_UNKNOWN. */
function failUnknown(id: number): never {
  fail('HOOK_UNKNOWN', `Unknown webhook ${id}.`, 'See `packhouse hooks list`.');
}

/** Which addresses are connected to is decided when a delivery is sent: names change theirs. Throws HOOK_INVALID. */
function checkUrl(text: string): void {
  const hints = [
    'For example https://example.com/packhouse.',
    'Leave them out: deliveries are signed.',
  ] as const;
  readReceiverUrl(text, { code: 'HOOK_INVALID', what: 'The address of a webhook', hints });
}
