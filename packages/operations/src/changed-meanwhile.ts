import { isDeepStrictEqual } from 'node:util';
import { PackhouseError } from '@packhouse/runtime';

/** The error for a change of something that is not as it was read any more; `now` is how it is, null: it is gone. */
export function changedMeanwhile(what: string, now: object | null): PackhouseError {
  return new PackhouseError({
    code: 'CHANGED_MEANWHILE',
    message: `${what} was changed by someone else since it was read, and nothing was done.`,
    hint: 'Look at it again, and repeat the change if it is still right.',
    data: { now },
  });
}

/** Throws CHANGED_MEANWHILE, with what changed, unless each field that is expected is as it says. */
export function refuseChanged(
  what: string,
  now: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>> | undefined,
): void {
  const changed = Object.entries(expected ?? {}).filter(
    ([field, value]) => value !== undefined && !isDeepStrictEqual(now[field], value),
  );
  if (changed.length === 0) return;
  throw changedMeanwhile(what, Object.fromEntries(changed.map(([field]) => [field, now[field]])));
}
