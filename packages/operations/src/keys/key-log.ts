import type { Database } from '@packhouse/database';
import { z } from 'zod';
import { flagField, limitField, numberField } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';
import { invalidInput } from '../operation/read-input.js';
import { requireAdmin } from '../operation/require-admin.js';
import { findOwnKey } from './own.js';
import { findSubject, type SubjectKeys, subjectFields, toSubject } from './subject-keys.js';

const minutes = numberField(0, 1_440)
  .default(10)
  .describe('minutes for which its requests are logged; 0 ends that');
const limit = limitField(100, 1_000);

export const logKey = change({
  name: 'keys/log',
  role: 'operator',
  owners: true,
  summary:
    'Logs the requests of an API key, or of all keys of an application, for some minutes; gateways begin within a second. Admins and owners may ask for the parameters of one key, for a quarter of an hour.',
  input: z.object({
    ...subjectFields,
    minutes,
    params: flagField.optional().describe('parameters of calls too: cut, without secrets'),
  }),
  run: async (parts, { minutes, params = false, ...of }) => {
    if (params) checkParams(parts, minutes, of.key);
    return log(parts, await findSubject(parts, of), minutes, params);
  },
});

export const keyRequests = read({
  name: 'keys/requests',
  role: 'operator',
  owners: true,
  summary:
    'The logged requests of an API key or an application, newest first: method, status, duration, units; 1,000 of a key are kept, for a day.',
  input: z.object({ ...subjectFields, limit }),
  run: async (parts, { limit, ...of }) => {
    const log = await readLog(parts.database, await findSubject(parts, of), limit);
    return mayReadParams(parts) ? log : withoutParams(log);
  },
});

export const logOwn = change({
  name: 'own/log',
  role: 'owner',
  summary: 'Logs the requests of the key that signed in for some minutes, without parameters.',
  input: z.object({ minutes }),
  run: async (parts, { minutes }) => log(parts, await findOwn(parts), minutes, false),
});

export const ownRequests = read({
  name: 'own/requests',
  role: 'owner',
  summary: 'The logged requests of the key that signed in, newest first.',
  input: z.object({ limit }),
  run: async (parts, { limit }) => withoutParams(await readLog(parts.database, await findOwn(parts), limit)),
});

/** Minutes for which parameters are logged at most: somebody looks at them meanwhile. */
const MAX_PARAMS_MINUTES = 15;

/** Whether the actor may see what clients ask in detail: admins, and owners of theirs. */
const mayReadParams = ({ role = 'admin' }: OperationParts): boolean => role === 'admin' || role === 'owner';

/** Throws ROLE_TOO_LOW, and INPUT_INVALID unless it is one key for a quarter of an hour at most. */
function checkParams(parts: OperationParts, minutes: number, key: string | undefined): void {
  if (!mayReadParams(parts)) requireAdmin(parts, 'Only admins and owners have parameters logged.');
  if (key === undefined)
    throw invalidInput([{ name: 'key', message: 'takes the one key to log parameters of' }]);
  if (minutes > MAX_PARAMS_MINUTES) {
    const message = `takes at most ${MAX_PARAMS_MINUTES} with parameters`;
    throw invalidInput([{ name: 'minutes', message }]);
  }
}

async function log(parts: OperationParts, { subject, ids }: SubjectKeys, minutes: number, params: boolean) {
  const loggedUntil = await parts.database.keyRequests.log(ids, minutes, params);
  await noteChange(parts, subject, params ? 'log with parameters' : 'log', null, { loggedUntil });
  return { subject, loggedUntil };
}

async function readLog(database: Database, { ids, loggedUntil, paramsUntil }: SubjectKeys, limit: number) {
  return { loggedUntil, paramsUntil, requests: await database.keyRequests.list(ids, limit) };
}

function withoutParams(log: Awaited<ReturnType<typeof readLog>>): typeof log {
  return { ...log, requests: log.requests.map((request) => ({ ...request, params: null })) };
}

const findOwn = async (parts: OperationParts): Promise<SubjectKeys> => toSubject(await findOwnKey(parts));
