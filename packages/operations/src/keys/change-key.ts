import type { KeyTerms, ListedKey } from '@packhouse/database';
import { z } from 'zod';
import { expectedField, refuseChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import { checkFuture, dateField, networkField, numberField, withoutUndefined } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts } from '../operation/operation.js';
import { refuseOfOwner } from '../operation/own-scope.js';
import { requireAdmin } from '../operation/require-admin.js';
import { findKey, keyField } from './find-key.js';
import { readRestrictions, restrictionFields } from './key-restrictions.js';
import { toPublicKey } from './keys.js';
import { isUnlimited } from './plans.js';

const fields = {
  plan: z.string().min(1).max(64).optional().describe('the plan with its limits'),
  network: networkField.nullable().optional().describe('the only network it opens; null: all'),
  expiresAt: dateField.nullable().optional().describe('when it expires; null: never'),
  ...restrictionFields,
};

export const setKey = change({
  name: 'keys/set',
  role: 'operator',
  owners: true,
  summary:
    'Changes plan, network, expiry and restrictions of an API key: gateways apply them within a second. Owners change origins and addresses.',
  input: z.object({
    key: keyField,
    ...fields,
    expected: expectedField(fields),
  }),
  run: async (parts, { key, expected, ...given }) => {
    const { origins: _, addresses: __, ...others } = given;
    refuseOfOwner(parts, others);
    checkFuture(parts.context, 'expiresAt', given.expiresAt);
    const terms = await readTerms(parts, given);
    const found = await findKey(parts, key);
    let before: KeyTerms | null = null;
    const row = await parts.database.keys.change(found.id, (now) => {
      requireAlive(now);
      if (isUnlimited(now.plan))
        requireAdmin(parts, `Key ${now.prefix} has the unlimited plan "${now.plan.name}".`);
      before = toTerms(now);
      refuseChanged(`Key ${now.prefix}`, { ...before }, expected);
      return { ...before, ...terms };
    });
    if (row === null) fail('KEY_UNKNOWN', `Unknown key "${found.prefix}".`);
    await noteChange(parts, `key ${row.prefix}`, 'set', before, toTerms(row));
    return toPublicKey(row);
  },
});

export const rotateKey = change({
  name: 'keys/rotate',
  role: 'operator',
  owners: true,
  summary: 'Makes a new secret of an API key, shown only once; the old one works too for some hours.',
  input: z.object({
    key: keyField,
    overlapHours: numberField(0, 720).default(24).describe('hours for which the old secret works too'),
  }),
  run: async (parts, { key, overlapHours }) => {
    const found = await findKey(parts, key);
    requireAlive(found);
    if (isUnlimited(found.plan))
      requireAdmin(parts, `Key ${found.prefix} has the unlimited plan "${found.plan.name}".`);
    const made = await parts.database.keys.rotate(found, overlapHours * 3_600_000);
    if (made === null) fail('KEY_UNKNOWN', `Key "${found.prefix}" was revoked meanwhile.`);
    const { oldSecretUntil, prefix } = made.row;
    await noteChange(parts, `key ${prefix}`, 'rotate', null, { oldSecretUntil });
    return { apiKey: made.key, ...toPublicKey(made.row) };
  },
});

type Given = z.output<z.ZodObject<typeof fields>>;

/** The given terms, with restrictions as they are stored. Throws USAGE, ROLE_TOO_LOW. */
async function readTerms(parts: OperationParts, given: Given): Promise<Partial<KeyTerms>> {
  const { origins, addresses, methods, contracts, ...rest } = given;
  const plans = rest.plan === undefined ? [] : await parts.database.plans.list();
  const chosen = plans.find(({ name }) => name === rest.plan);
  if (chosen !== undefined && isUnlimited(chosen))
    requireAdmin(parts, `Only admins give keys the plan "${chosen.name}", which is unlimited.`);
  return { ...withoutUndefined(rest), ...readRestrictions({ origins, addresses, methods, contracts }) };
}

function toTerms({
  plan,
  network,
  expiresAt,
  origins,
  addresses,
  methods,
  contracts,
  maxLogRange,
}: ListedKey): KeyTerms {
  return { plan: plan.name, network, expiresAt, origins, addresses, methods, contracts, maxLogRange };
}

/** Throws KEY_REVOKED. */
function requireAlive({ prefix, revokedAt }: Pick<ListedKey, 'prefix' | 'revokedAt'>): void {
  if (revokedAt !== null) fail('KEY_REVOKED', `Key "${prefix}" is revoked for ever.`, 'Create another one.');
}
