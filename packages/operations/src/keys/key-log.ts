import type { Database } from '@packhouse/database';
import { z } from 'zod';
import { limitField, numberField } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';
import { findOwnKey } from './own.js';
import { findSubject, type SubjectKeys, subjectFields } from './subject-keys.js';

const minutes = numberField(0, 1_440)
  .default(10)
  .describe('minutes for which its requests are logged; 0 ends that');
const limit = limitField(100, 1_000);

export const logKey = change({
  name: 'keys/log',
  role: 'operator',
  owners: true,
  summary:
    'Logs the requests of an API key, or of all keys of an application, for some minutes, without parameters; gateways begin within a second.',
  input: z.object({ ...subjectFields, minutes }),
  run: async (parts, { minutes, ...of }) => log(parts, await findSubject(parts, of), minutes),
});

export const keyRequests = read({
  name: 'keys/requests',
  role: 'operator',
  owners: true,
  summary:
    'The logged requests of an API key or an application, newest first: method, status, duration, units; 1,000 of a key are kept, for a day.',
  input: z.object({ ...subjectFields, limit }),
  run: async (parts, { limit, ...of }) => readLog(parts.database, await findSubject(parts, of), limit),
});

export const logOwn = change({
  name: 'own/log',
  role: 'owner',
  summary: 'Logs the requests of the key that signed in for some minutes, without parameters.',
  input: z.object({ minutes }),
  run: async (parts, { minutes }) => log(parts, await findOwn(parts), minutes),
});

export const ownRequests = read({
  name: 'own/requests',
  role: 'owner',
  summary: 'The logged requests of the key that signed in, newest first.',
  input: z.object({ limit }),
  run: async (parts, { limit }) => readLog(parts.database, await findOwn(parts), limit),
});

async function log(parts: OperationParts, { subject, ids }: SubjectKeys, minutes: number) {
  const loggedUntil = await parts.database.keyRequests.log(ids, minutes);
  await noteChange(parts, subject, 'log', null, { loggedUntil });
  return { subject, loggedUntil };
}

async function readLog(database: Database, { ids, loggedUntil }: SubjectKeys, limit: number) {
  return { loggedUntil, requests: await database.keyRequests.list(ids, limit) };
}

async function findOwn(parts: OperationParts): Promise<SubjectKeys> {
  const { id, prefix, loggedUntil } = await findOwnKey(parts);
  return { subject: `key ${prefix}`, ids: [id], loggedUntil };
}
