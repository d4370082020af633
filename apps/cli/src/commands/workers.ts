import type { WorkerRow } from '@packhouse/database';
import { drainWorker, listWorkers } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, describeCommand, type Place, withPlace } from '../terminal/command.js';
import { type CliIo, print, printRows, table } from '../terminal/io.js';

/** Jobs that a line of the table names. */
const SHOWN = 2;

/** `packhouse workers list|drain|resume`. */
export function addWorkersCommand(program: Command, io: CliIo): void {
  const workers = addCommand(program, 'workers', 'List, drain and resume ingesters and packers', 'list');

  const list = workers.command('list', { isDefault: true });
  withPlace(describeCommand(list, 'List workers and their jobs', 'packhouse workers list')).action(
    async (options: Place) => {
      const rows = await operate(io, options, listWorkers, {});
      await printRows(io, options, rows, {
        none: 'No ingester or packer reported in the last 15 s.',
        show: () => [workerTable(rows), ...fileLines(rows)].join('\n'),
      });
    },
  );

  const setDraining = (name: 'drain' | 'resume', description: string): void => {
    addPlacedCommand(workers, name, description, '3f2a')
      .argument('<id>', 'Id of the worker, or its first characters')
      .action(async (id: string, options: Place) => {
        const row = await operate(io, options, drainWorker, { id, draining: name === 'drain' });
        const does = row.draining
          ? 'draining: it finishes its jobs and takes no new ones until it is resumed or restarted'
          : 'resumed: it takes jobs again';
        const text = `${row.role} ${row.id.slice(0, 8)} (process ${row.pid} on ${row.host}) ${does}.`;
        await print(io, options.json ? row : text);
      });
  };
  setDraining('drain', 'Drain a worker: it finishes its jobs and takes no new ones');
  setDraining('resume', 'Resume a drained worker');
}

function workerTable(rows: readonly WorkerRow[]): string {
  const lines = rows.map((row) => {
    const [...doing] = row.jobs.slice(0, SHOWN).map(({ job, seconds }) => `${job} ${seconds} s`);
    if (row.jobs.length > SHOWN) doing.push(`and ${row.jobs.length - SHOWN} more`);
    return [
      row.id.slice(0, 8),
      row.role,
      `${row.host}:${row.pid}`,
      row.startedAt.toISOString().slice(0, 19),
      row.networksDigest || '?',
      `${row.jobs.length} of ${row.slots}${row.draining ? ', draining' : ''}`,
      doing.join(', ') || 'idle',
    ];
  });
  return table([['ID', 'ROLE', 'PROCESS', 'SINCE', 'NETWORKS FILE', 'JOBS', 'CURRENT JOBS'], ...lines]);
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
