import type { OperatorRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { numberField } from './fields.js';
import { noteChange } from './note-change.js';
import { type OperationParts, operation, ROLES } from './operation.js';
import { hashPassword } from './passwords.js';
import { hashOf, makeSecret } from './secrets.js';

/** How long a link signs in, in milliseconds. */
const LINK_MS = 600_000;
const DAY_MS = 86_400_000;

const name = z.string().min(1).max(200).describe('the name of an operator');
const role = z.enum(ROLES).describe('viewer looks, operator changes the work, admin changes who may');
const password = z.string().min(10).max(1_024).describe('at least ten characters');

export const listOperators = operation({
  name: 'operators',
  kind: 'read',
  role: 'admin',
  summary: 'The operators, by name, and the tokens and sessions that have not expired.',
  input: z.object({}),
  run: async ({ database }) => ({
    operators: await database.operators.list(),
    secrets: await database.operators.secrets(),
  }),
});

export const addOperator = operation({
  name: 'operators/add',
  kind: 'change',
  role: 'admin',
  summary: 'Makes an operator. Without a password he signs in by links.',
  input: z.object({
    name: name.regex(/^\P{Cc}*$/u, 'takes no control characters'),
    role,
    password: password.optional(),
  }),
  run: async (parts, { name, role, password }) => {
    const hash = password === undefined ? null : await hashPassword(password);
    const row = await parts.database.operators.add({ name, role, password: hash });
    if (row === null) {
      throw new PackhouseError({
        code: 'OPERATOR_EXISTS',
        message: `There is an operator "${name}" already.`,
        hint: 'Change the role or the password with `packhouse operators set`.',
      });
    }
    await note(parts, name, 'add', null, row);
    return row;
  },
});

export const setOperator = operation({
  name: 'operators/set',
  kind: 'change',
  role: 'admin',
  summary: 'Changes role or password of an operator, and ends his sessions and tokens.',
  input: z.object({ name, role: role.optional(), password: password.optional() }),
  run: async (parts, { name, role, password }) => {
    const before = await find(parts, name);
    const row = await parts.database.operators.set(name, {
      ...(role === undefined ? {} : { role }),
      ...(password === undefined ? {} : { password: await hashPassword(password) }),
    });
    await note(parts, name, password === undefined ? 'set' : 'set password', before, row);
    return row ?? unknown(name);
  },
});

export const removeOperator = operation({
  name: 'operators/remove',
  kind: 'change',
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

export const makeLink = operation({
  name: 'operators/link',
  kind: 'change',
  role: 'admin',
  summary: 'Makes a link that signs an operator in once within ten minutes.',
  input: z.object({ name }),
  run: async (parts, { name }) => {
    const { id, role } = await find(parts, name);
    const link = makeSecret();
    const secret = { kind: 'link', operatorId: id, keyId: null, role } as const;
    await parts.database.operators.keep({ sha256: hashOf(link), ...secret, forMs: LINK_MS });
    await note(parts, name, 'link', null, null);
    return { name, role, link, path: `/#/link/${link}`, expiresInMs: LINK_MS };
  },
});

export const makeToken = operation({
  name: 'operators/token',
  kind: 'change',
  role: 'admin',
  summary: 'Makes a token with which a program acts as an operator; it is shown once.',
  input: z.object({
    name,
    role: role.optional(),
    label: z.string().min(1).max(200).describe('what it is for'),
    days: numberField(1, 3_650).default(90).describe('until it expires'),
  }),
  run: async (parts, { name, role, label, days }) => {
    const operator = await find(parts, name);
    if (role !== undefined && ROLES.indexOf(role) > ROLES.indexOf(operator.role)) {
      throw new PackhouseError({
        code: 'ROLE_TOO_LOW',
        message: `A token of "${name}" has at most the role ${operator.role}, got ${role}.`,
        hint: 'Change the role of the operator with `packhouse operators set`.',
      });
    }
    const token = makeSecret();
    const secret = {
      kind: 'token',
      operatorId: operator.id,
      keyId: null,
      role: role ?? operator.role,
      label,
    } as const;
    await parts.database.operators.keep({ sha256: hashOf(token), ...secret, forMs: days * DAY_MS });
    await note(parts, name, 'token', null, { label, days, role: secret.role });
    return { name, label, role: secret.role, token, days };
  },
});

export const dropTokens = operation({
  name: 'operators/drop-tokens',
  kind: 'change',
  role: 'admin',
  summary: 'Ends the tokens of an operator with this label.',
  input: z.object({ name, label: z.string().min(1).max(200) }),
  run: async (parts, { name, label }) => {
    await find(parts, name);
    const dropped = await parts.database.operators.dropTokens(name, label);
    await note(parts, name, 'drop tokens', { label, dropped }, null);
    return { name, label, dropped };
  },
});

async function find({ database }: OperationParts, name: string): Promise<OperatorRow> {
  return (await database.operators.find(name))?.operator ?? unknown(name);
}

function unknown(name: string): never {
  throw new PackhouseError({
    code: 'OPERATOR_UNKNOWN',
    message: `There is no operator "${name}".`,
    hint: 'See `packhouse operators list`.',
  });
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
