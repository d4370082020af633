import type { Database } from '@packhouse/database';
import { z } from 'zod';
import { limitField, numberField } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';
import { findKey, keyField } from './find-key.js';
import { findOwnKey } from './own.js';

const minutes = numberField(0, 1_440)
  .default(10)
  .describe('minutes for which its requests are logged; 0 ends that');
const limit = limitField(100, 1_000);

export const logKey = change({
  name: 'keys/log',
  role: 'operator',
  summary:
    'Logs the requests of an API key for some minutes, without parameters; gateways begin within a second.',
  input: z.object({ key: keyField, minutes }),
  run: async (parts, { key, minutes }) => log(parts, await findKey(parts.database, key), minutes),
});

export const keyRequests = read({
  name: 'keys/requests',
  role: 'operator',
  summary:
    'The logged requests of an API key, newest first: method, status, duration, units; 1,000 are kept, for a day.',
  input: z.object({ key: keyField, limit }),
  run: async ({ database }, { key, limit }) => readLog(database, await findKey(database, key), limit),
});

export const logOwn = change({
  name: 'own/log',
  role: 'owner',
  summary: 'Logs the requests of the key that signed in for some minutes, without parameters.',
  input: z.object({ minutes }),
  run: async (parts, { minutes }) => log(parts, await findOwnKey(parts), minutes),
});

export const ownRequests = read({
  name: 'own/requests',
  role: 'owner',
  summary: 'The logged requests of the key that signed in, newest first.',
  input: z.object({ limit }),
  run: async (parts, { limit }) => readLog(parts.database, await findOwnKey(parts), limit),
});

type Named = { id: number; prefix: string; loggedUntil: Date | null };

async function log(parts: OperationParts, { id, prefix }: Named, minutes: number) {
  const loggedUntil = await parts.database.keyRequests.log(id, minutes);
  await noteChange(parts, `key ${prefix}`, 'log', null, { loggedUntil });
  return { prefix, loggedUntil };
}

async function readLog(database: Database, { id, loggedUntil }: Named, limit: number) {
  return { loggedUntil, requests: await database.keyRequests.list(id, limit) };
}
