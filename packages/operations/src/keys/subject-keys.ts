import type { ListedKey } from '@packhouse/database';
import { applicationField, findApplication } from '../applications/find-application.js';
import type { OperationParts } from '../operation/operation.js';
import { invalidInput } from '../operation/read-input.js';
import { findKey, keyField } from './find-key.js';

/** A key, or all keys of an application. */
export const subjectFields = {
  key: keyField.optional(),
  application: applicationField.optional().describe('all keys of this application'),
};

/** Keys that are read or changed together. */
export interface SubjectKeys {
  /** As the audit log names it. */
  subject: string;
  ids: number[];
  /** Until when requests of one of them are logged; null: of none. */
  loggedUntil: Date | null;
  /** Until when its parameters are logged too, of a key. */
  paramsUntil: Date | null;
}

/** Throws KEY_UNKNOWN, APPLICATION_UNKNOWN, and INPUT_INVALID unless one of the two is given. */
export async function findSubject(
  parts: OperationParts,
  { key, application }: { key?: string | undefined; application?: string | undefined },
): Promise<SubjectKeys> {
  if (key !== undefined && application === undefined) {
    return toSubject(await findKey(parts, key));
  }
  if (application === undefined || key !== undefined) {
    throw invalidInput([{ name: 'key', message: 'takes a key or an application, and not both' }]);
  }
  const { id, name } = await findApplication(parts, application);
  const keys = await parts.database.applications.keys(id);
  const logged = keys.flatMap(({ loggedUntil }) => (loggedUntil === null ? [] : [loggedUntil.getTime()]));
  return {
    subject: `application ${name}`,
    ids: keys.map((each) => each.id),
    loggedUntil: logged.length === 0 ? null : new Date(Math.max(...logged)),
    paramsUntil: null,
  };
}

/** One key. */
export function toSubject({ id, prefix, loggedUntil, paramsUntil }: ListedKey): SubjectKeys {
  return { subject: `key ${prefix}`, ids: [id], loggedUntil, paramsUntil };
}
