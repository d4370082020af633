import type { OperatorRow } from '@packhouse/database';
import { DAY_MS } from '@packhouse/runtime';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { limitField, newNameField, numberField, withoutUndefined } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, ROLES, read } from '../operation/operation.js';
import { hashPassword } from './passwords.js';
import { getHash, makeSecret } from './secrets.js';

/** Lifetime of a sign-in link. */
const LINK_MS = 600_000;

const name = z.string().min(1).max(200).describe('the name of an operator');
const role = z
  .enum(ROLES, `takes ${ROLES.join(', ')}`)
  .describe(
    'owner manages its applications, viewer reads, operator changes the work, admin changes operators and plans',
  );
const PASSWORD_LENGTH = 'takes 10 to 1024 characters';
const password = z
  .string()
  .min(10, PASSWORD_LENGTH)
  .max(1_024, PASSWORD_LENGTH)
  .describe('at least ten characters');

export const listOperators = read({
  name: 'operators',
  role: 'admin',
  summary: 'The operators, and their tokens and sessions that have not expired.',
  run: async ({ database }) => ({
    operators: await database.operators.list(),
    secrets: await database.operators.secrets(),
  }),
});

export const addOperator = change({
  name: 'operators/add',
  role: 'admin',
  summary: 'Creates an operator. Without a password, one-time links sign in.',
  input: z.object({
    name: newNameField(200).describe('the name of an operator'),
    role,
    password: password.optional(),
  }),
  run: async (parts, { name, role, password }) => {
    const hash = password === undefined ? null : await hashPassword(password);
    const row = await parts.database.operators.add({ name, role, password: hash });
    if (row === null) {
      fail(
        'OPERATOR_EXISTS',
        `Operator "${name}" exists already.`,
        'Change role or password with `packhouse operators set`.',
      );
    }
    await note(parts, name, 'add', null, row);
    return row;
  },
});

export const setOperator = change({
  name: 'operators/set',
  role: 'admin',
  summary: 'Changes role or password of an operator, and ends all sessions and tokens.',
  input: z.object({ name, role: role.optional(), password: password.optional() }),
  run: async (parts, { name, role, password }) => {
    const before = await find(parts, name);
    const hash = password === undefined ? undefined : await hashPassword(password);
    const row = await parts.database.operators.set(name, withoutUndefined({ role, password: hash }));
    await note(parts, name, password === undefined ? 'set' : 'set password', before, row);
    return row ?? unknown(name);
  },
});

export const removeOperator = change({
  name: 'operators/remove',
  role: 'admin',
  summary: 'Removes an operator with all sessions and tokens.',
  input: z.object({ name }),
  run: async (parts, { name }) => {
    const row = await parts.database.operators.remove(name);
    if (row === null) return unknown(name);
    await note(parts, name, 'remove', row, null);
    return row;
  },
});

export const makeLink = change({
  name: 'operators/link',
  role: 'admin',
  summary: 'Creates a one-time sign-in link, valid for ten minutes.',
  input: z.object({ name }),
  run: async (parts, { name }) => {
    const { id, role } = await find(parts, name);
    const link = makeSecret(await parts.database.operators.seal());
    const secret = { kind: 'link', operatorId: id, keyId: null, role } as const;
    await parts.database.operators.keep({ sha256: getHash(link), ...secret, forMs: LINK_MS });
    await note(parts, name, 'link', null, null);
    return { name, role, link, path: `/#/link/${link}`, expiresInMs: LINK_MS };
  },
});

export const makeToken = change({
  name: 'operators/token',
  role: 'admin',
  summary: 'Creates a token for a program; it is shown only once.',
  input: z.object({
    name,
    role: role.optional(),
    label: z.string().min(1).max(200).describe('its purpose'),
    days: numberField(1, 3_650).default(90).describe('days until it expires'),
  }),
  run: async (parts, { name, role, label, days }) => {
    const operator = await find(parts, name);
    if (role !== undefined && ROLES.indexOf(role) > ROLES.indexOf(operator.role)) {
      fail(
        'ROLE_TOO_LOW',
        `A token of "${name}" has at most the role ${operator.role}, got ${role}.`,
        'Change the role of the operator with `packhouse operators set`.',
      );
    }
    const token = makeSecret(await parts.database.operators.seal());
    const secret = {
      kind: 'token',
      operatorId: operator.id,
      keyId: null,
      role: role ?? operator.role,
      label,
    } as const;
    await parts.database.operators.keep({ sha256: getHash(token), ...secret, forMs: days * DAY_MS });
    await note(parts, name, 'token', null, { label, days, role: secret.role });
    return { name, label, role: secret.role, token, days };
  },
});

export const dropTokens = change({
  name: 'operators/drop-tokens',
  role: 'admin',
  summary: 'Revokes the tokens of an operator with this label.',
  input: z.object({ name, label: z.string().min(1).max(200) }),
  run: async (parts, { name, label }) => {
    await find(parts, name);
    const dropped = await parts.database.operators.dropTokens(name, label);
    await note(parts, name, 'drop tokens', { label, dropped }, null);
    return { name, label, dropped };
  },
});

export const listSignIns = read({
  name: 'sign-ins',
  role: 'admin',
  summary: 'Sign-ins to the console and refused attempts of the last year, newest first, a page at a time.',
  input: z.object({
    before: numberField(0, Number.MAX_SAFE_INTEGER).optional().describe('those before this ID'),
    limit: limitField(100, 1_000),
  }),
  run: async ({ database }, { before, limit }) => {
    const found = await database.signIns.list({ before, limit: limit + 1 });
    return { rows: found.slice(0, limit), more: found.length > limit };
  },
});

async function find({ database }: OperationParts, name: string): Promise<OperatorRow> {
  return (await database.operators.find(name))?.operator ?? unknown(name);
}

function unknown(name: string): never {
  fail('OPERATOR_UNKNOWN', `Unknown operator "${name}".`, 'See `packhouse operators list`.');
}

function note(
  parts: OperationParts,
  name: string,
  action: string,
  before: object | null,
  after: object | null,
): Promise<void> {
  return noteChange(parts, `operator ${name}`, action, before, after);
}
