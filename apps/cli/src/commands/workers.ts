import type { WorkerRow } from '@packhouse/database';
import { drainWorker, listWorkers } from '@packhouse/operations';
import { list, one, resource } from '../installation/resource.js';
import { columnTable } from '../terminal/table.js';

/** Jobs that a line of the table names. */
const SHOWN = 2;

const setDraining = (draining: boolean, about: string, does: string) =>
  one(drainWorker, {
    about,
    examples: ['3f2a'],
    fields: { id: ['<id>', 'Id of the worker, or its first characters'] },
    fixed: { draining },
    say: ({ role, id, pid, host }) => `${role} ${id.slice(0, 8)} (process ${pid} on ${host}) ${does}.`,
  });

export const addWorkersCommand = resource('workers', 'List, drain and resume ingesters and packers', 'list', {
  list: list(listWorkers, {
    about: 'List workers and their jobs',
    isDefault: true,
    empty: 'No ingester or packer reported in the last 15 s.',
    show: (rows) => [workerTable(rows), ...fileLines(rows)],
  }),
  drain: setDraining(
    true,
    'Drain a worker: it finishes its jobs and takes no new ones',
    'draining: it finishes its jobs and takes no new ones until it is resumed or restarted',
  ),
  resume: setDraining(false, 'Resume a drained worker', 'resumed: it takes jobs again'),
});

function workerTable(rows: readonly WorkerRow[]): string {
  return columnTable(rows, {
    ID: (row) => row.id.slice(0, 8),
    ROLE: (row) => row.role,
    PROCESS: (row) => `${row.host}:${row.pid}`,
    SINCE: (row) => row.startedAt.toISOString().slice(0, 19),
    'NETWORKS FILE': (row) => row.networksDigest || '?',
    JOBS: (row) => `${row.jobs.length} of ${row.slots}${row.draining ? ', draining' : ''}`,
    'CURRENT JOBS': ({ jobs }) => {
      const named = jobs.slice(0, SHOWN).map(({ job, seconds }) => `${job} ${seconds} s`);
      if (jobs.length > SHOWN) named.push(`and ${jobs.length - SHOWN} more`);
      return named.join(', ') || 'idle';
    },
  });
}

/** Problems of the networks files that the workers use. */
function fileLines(rows: readonly WorkerRow[]): string[] {
  const refused = rows.flatMap(({ id, role, networksProblem }) =>
    networksProblem === null
      ? []
      : [`${role} ${id.slice(0, 8)} cannot load its networks file: ${networksProblem}`],
  );
  const differ = new Set(rows.map(({ networksDigest }) => networksDigest)).size > 1;
  return differ ? [...refused, 'Workers use different networks files: compare NETWORKS FILE.'] : refused;
}
