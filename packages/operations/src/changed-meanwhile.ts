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
