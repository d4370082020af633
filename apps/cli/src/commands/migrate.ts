import { migrate } from '@packhouse/database';
import type { Command } from 'commander';
import { commandContext, databaseUrl } from '../installation/connect.js';
import { type CliIo, print } from '../terminal/io.js';

/** `packhouse migrate`. */
export function addMigrateCommand(program: Command, io: CliIo): void {
  program
    .command('migrate')
    .description('bring the database schema up to this version; safe to run at any time, by several at once')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ DATABASE_URL=postgres://user:password@host/packhouse packhouse migrate',
    )
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
