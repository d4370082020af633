import { isDeepStrictEqual } from 'node:util';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';

/** The field of a change that `refuseChanged` compares. */
export const expectedField = <S extends z.ZodRawShape>(shape: S) =>
  z
    .object(shape)
    .partial()
    .optional()
    .describe('fields as they were read; if one has changed since, the request is refused');

/** Refuses to change something that has changed since it was read; `now`: its state, null: removed. */
export function failChanged(what: string, now: object | null): never {
  throw new PackhouseError({
    code: 'CHANGED_MEANWHILE',
    message: `${what} was changed by someone else meanwhile. Nothing was done.`,
    hint: 'Read it again, and repeat the change if it still applies.',
    data: { now },
  });
}

/** Throws CHANGED_MEANWHILE, with the changed fields, unless each field is as expected. */
export function refuseChanged(
  what: string,
  now: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>> | undefined,
): void {
  const changed = Object.entries(expected ?? {}).filter(
    ([field, value]) => value !== undefined && !isDeepStrictEqual(now[field], value),
  );
  if (changed.length === 0) return;
  failChanged(what, Object.fromEntries(changed.map(([field]) => [field, now[field]])));
}
