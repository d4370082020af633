import type { WorkerRow } from '@packhouse/database';
import { drainWorker, listWorkers } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { withPlace } from '../terminal/place.js';

interface Options {
  server?: string;
  json?: boolean;
  dataDir?: string;
}

/** Jobs that a line of the table names. */
const SHOWN = 2;

/** `packhouse workers list|drain|resume`. */
export function addWorkersCommand(program: Command, io: CliIo): void {
  const workers = program
    .command('workers')
    .description('list the ingesters and packers that live, and let one finish its jobs')
    .addHelpText('after', '\nExample:\n  $ packhouse workers list');

  withPlace(workers.command('list', { isDefault: true }))
    .description('list who lives, what each does, and since when')
    .addHelpText('after', '\nExample:\n  $ packhouse workers list')
    .action(async (options: Options) => {
      const rows = await operate(io, options, listWorkers, {});
      if (options.json) for (const row of rows) await print(io, row);
      else if (rows.length === 0) await print(io, 'No ingester and no packer was seen in the last 15 s.');
      else await print(io, [workerTable(rows), ...fileLines(rows)].join('\n'));
    });

  const setDraining = (name: 'drain' | 'resume', description: string): void => {
    withPlace(workers.command(name))
      .description(description)
      .argument('<id>', 'its id, or the first letters of it')
      .addHelpText('after', `\nExample:\n  $ packhouse workers ${name} 3f2a`)
      .action(async (id: string, options: Options) => {
        const row = await operate(io, options, drainWorker, { id, draining: name === 'drain' });
        const what = `The ${row.role} ${row.id.slice(0, 8)} (process ${row.pid} on ${row.host})`;
        const does = row.draining
          ? 'finishes its jobs and takes no further one; a process that is started anew takes jobs again'
          : 'takes jobs again';
        await print(io, options.json ? row : `${what} ${does}.`);
      });
  };
  setDraining('drain', 'let a worker finish its jobs and take no further one');
  setDraining('resume', 'let a drained worker take jobs again');
}

function workerTable(rows: readonly WorkerRow[]): string {
  const lines = rows.map((row) => {
    const [...doing] = row.doing.slice(0, SHOWN).map(({ job, seconds }) => `${job} ${seconds} s`);
    if (row.doing.length > SHOWN) doing.push(`and ${row.doing.length - SHOWN} more`);
    return [
      row.id.slice(0, 8),
      row.role,
      `${row.host}:${row.pid}`,
      row.startedAt.toISOString().slice(0, 19),
      row.networksDigest || '?',
      `${row.doing.length} of ${row.slots}${row.draining ? ', draining' : ''}`,
      doing.join(', ') || 'nothing',
    ];
  });
  return table([['ID', 'ROLE', 'PROCESS', 'SINCE', 'FILE', 'JOBS', 'DOES'], ...lines]);
}

/** What is wrong with the networks files that the workers have in force. */
function fileLines(rows: readonly WorkerRow[]): string[] {
  const refused = rows.flatMap(({ id, role, networksProblem }) =>
    networksProblem === null
      ? []
      : [`The ${role} ${id.slice(0, 8)} does not take up its networks file: ${networksProblem}`],
  );
  const differ = new Set(rows.map(({ networksDigest }) => networksDigest)).size > 1;
  return differ ? [...refused, 'Not all have the same networks file in force: compare FILE.'] : refused;
}
