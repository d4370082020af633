import type { Database } from '@packhouse/database';
import { makeHookSalt, toHookSecret } from '@packhouse/delivery';
import type { ErrorCode } from '@packhouse/runtime';
import { z } from 'zod';
import { fail } from './fail.js';
import { numberField } from './fields.js';
import { change, read } from './operation.js';

export const idField = numberField(1, Number.MAX_SAFE_INTEGER).describe('its number');

/** What the table of webhooks, and that of channels of notifications, does for operators. */
interface Receivers<R> {
  find(id: number): Promise<R | null>;
  setState(id: number, state: 'active' | 'paused', actor: string): Promise<boolean>;
  rotate(id: number, terms: { salt: Buffer; overlapMs: number }, actor: string): Promise<boolean>;
  askTest(id: number): Promise<boolean>;
  remove(id: number, actor: string): Promise<boolean>;
}

/** Makes the operations that webhooks and channels of notifications have alike; `failUnknown`: there is none of this id. */
export function createReceiverOperations<const N extends string, R extends object>(of: {
  name: N;
  /** The summary of each. */
  texts: Readonly<Record<'show' | 'state' | 'rotate' | 'test' | 'remove', string>>;
  of(database: Database): Receivers<R>;
  failUnknown(id: number): never;
  /** Throws if it has no secret. */
  checkSecret?(row: R): void;
}) {
  const { name, texts, failUnknown } = of;
  const common = { role: 'operator', input: z.object({ id: idField }) } as const;
  /** Throws an error that names the id. */
  const find = async (database: Database, id: number): Promise<R> =>
    (await of.of(database).find(id)) ?? failUnknown(id);
  const show = read({
    ...common,
    name: `${name}/show`,
    summary: texts.show,
    run: ({ database }, { id }) => find(database, id),
  });
  const setState = change({
    ...common,
    name: `${name}/state`,
    summary: texts.state,
    input: z.object({ id: idField, state: z.enum(['active', 'paused']) }),
    run: async ({ actor, database }, { id, state }) => {
      await find(database, id);
      await of.of(database).setState(id, state, actor);
      return find(database, id);
    },
  });
  const rotate = change({
    ...common,
    name: `${name}/rotate`,
    summary: texts.rotate,
    input: z.object({ id: idField, overlapHours: numberField(0, 168).default(24) }),
    run: async ({ actor, database }, { id, overlapHours }) => {
      of.checkSecret?.(await find(database, id));
      const salt = makeHookSalt();
      const overlapMs = overlapHours * 3_600_000;
      if (!(await of.of(database).rotate(id, { salt, overlapMs }, actor))) failUnknown(id);
      const secret = toHookSecret(await database.operators.seal(), salt);
      return { secret, ...(await find(database, id)) };
    },
  });
  const test = change({
    ...common,
    name: `${name}/test`,
    summary: texts.test,
    run: async ({ database }, { id }) => {
      if (!(await of.of(database).askTest(id))) failUnknown(id);
      return { id };
    },
  });
  const remove = change({
    ...common,
    name: `${name}/remove`,
    summary: texts.remove,
    run: async ({ actor, database }, { id }) => {
      if (!(await of.of(database).remove(id, actor))) failUnknown(id);
      return { id };
    },
  });
  return { find, show, setState, rotate, test, remove };
}

/** The URL of a receiver. Throws `code` about `what`, with a hint if it is no HTTP address, or has more than one. */
export function readReceiverUrl(
  text: string,
  of: { code: ErrorCode; what: string; hints: readonly [scheme: string | undefined, extra: string] },
): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const [scheme, extra] = of.hints;
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    fail(of.code, `${of.what} begins with https:// or http://.`, scheme);
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    fail(of.code, `${of.what} has a user, a password or a fragment.`, extra);
  return url;
}
