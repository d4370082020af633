import type { WorkerRow } from '@packhouse/database';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { flagField } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, read } from '../operation/operation.js';

export const listWorkers = read({
  name: 'workers',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The running ingesters and packers with their jobs.',
  run: ({ database }) => database.workers.list(),
});

export const drainWorker = change({
  name: 'workers/drain',
  role: 'operator',
  summary: 'Drains a worker: it finishes its jobs and takes no more; or lets it take jobs again.',
  input: z.object({
    id: z.string().min(1).max(64).describe('its ID, or a prefix of it'),
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

/** Throws WORKER_UNKNOWN unless exactly one ID starts with it. */
function findWorker(rows: readonly WorkerRow[], id: string): WorkerRow {
  const found = rows.filter((row) => row.id.startsWith(id.toLowerCase()));
  const [row] = found;
  if (row !== undefined && found.length === 1) return row;
  const ids = (found.length === 0 ? rows : found).map((each) => each.id.slice(0, 8)).slice(0, 8);
  fail(
    'WORKER_UNKNOWN',
    found.length === 0
      ? `Unknown worker "${id}".`
      : `${found.length} workers have IDs that start with "${id}".`,
    ids.length === 0 ? 'No worker reported in the last 15 s.' : `Use one of ${ids.join(', ')}.`,
  );
}
