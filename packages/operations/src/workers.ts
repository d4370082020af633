import type { WorkerRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { flagField } from './fields.js';
import { noteChange } from './note-change.js';
import { operation } from './operation.js';

export const listWorkers = operation({
  name: 'workers',
  kind: 'read',
  role: 'viewer',
  summary: 'The ingesters and packers that live, what each does, and since when.',
  input: z.object({}),
  run: ({ database }) => database.workers.list(),
});

export const drainWorker = operation({
  name: 'workers/drain',
  kind: 'change',
  role: 'operator',
  summary: 'Lets a worker finish its jobs and take no further one, or take jobs again.',
  input: z.object({
    id: z.string().min(1).max(64).describe('its id, or the first letters of it'),
    draining: flagField,
  }),
  run: async (parts, { id, draining }) => {
    const { database } = parts;
    const found = findWorker(await database.workers.list(), id);
    await database.workers.setDraining(found.id, draining);
    const action = draining ? 'drain' : 'resume';
    await noteChange(parts, `worker ${found.id}`, action, { draining: found.draining }, { draining });
    return { ...found, draining };
  },
});

/** Throws WORKER_UNKNOWN unless exactly one id begins like that. */
function findWorker(rows: readonly WorkerRow[], id: string): WorkerRow {
  const found = rows.filter((row) => row.id.startsWith(id.toLowerCase()));
  const [row] = found;
  if (row !== undefined && found.length === 1) return row;
  const ids = (found.length === 0 ? rows : found).map((each) => each.id.slice(0, 8)).slice(0, 8);
  throw new PackhouseError({
    code: 'WORKER_UNKNOWN',
    message:
      found.length === 0
        ? `No living worker has the id "${id}".`
        : `${found.length} workers have ids that begin with "${id}".`,
    hint: ids.length === 0 ? 'None was seen in the last 15 s.' : `Give one of: ${ids.join(', ')}.`,
  });
}
