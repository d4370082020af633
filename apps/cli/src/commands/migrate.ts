import { migrate } from '@packhouse/database';
import type { Command } from 'commander';
import { commandContext, databaseUrl } from '../installation/context.js';
import { describeCommand } from '../terminal/command.js';
import { type CliIo, print } from '../terminal/io.js';

/** `packhouse migrate`. */
export function addMigrateCommand(program: Command, io: CliIo): void {
  describeCommand(
    program.command('migrate'),
    'Migrate the database schema to this version; safe to repeat and to run concurrently',
    'DATABASE_URL=postgres://user:password@host/packhouse packhouse migrate',
  )
    .option('--json', 'Print one JSON object')
    .action(async (options: { json?: boolean }) => {
      const applied = await migrate({ connectionString: databaseUrl(io), logger: commandContext(io).logger });
      if (options.json) await print(io, { applied });
      else
        await print(
          io,
          applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}.`,
        );
    });
}
