import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addAlarmsCommand } from './commands/alarms.js';
import { addAuditCommand } from './commands/audit.js';
import { addBackfillCommand } from './commands/backfill.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addKeysCommand } from './commands/keys.js';
import { addLocalCommand } from './commands/local.js';
import { addManifestCommand } from './commands/manifest.js';
import { addMigrateCommand } from './commands/migrate.js';
import { addPlansCommand } from './commands/plans.js';
import { addProcessCommands } from './commands/process.js';
import { addPullCommand } from './commands/pull.js';
import { addQuarantineCommand } from './commands/quarantine.js';
import { addStatusCommand } from './commands/status.js';
import { addVerifyCommand } from './commands/verify.js';
import { addWorkersCommand } from './commands/workers.js';
import type { CliIo } from './terminal/io.js';

/** The exit code of a command line that does not parse. */
const USAGE_EXIT = 64;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Creates the program with all its commands. */
export function createProgram(io: CliIo): Command {
  // Commands inherit these settings when they are added.
  const program = new Command('packhouse')
    .description('Blockchain history in bulk: proved, packed and served.')
    .version(version)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(`${usageLine(text)}\n`),
    })
    .addHelpText('after', '\nExample:\n  $ packhouse local');
  addLocalCommand(program, io);
  addStatusCommand(program, io);
  addDoctorCommand(program, io);
  addBackfillCommand(program, io);
  addAlarmsCommand(program, io);
  addWorkersCommand(program, io);
  addQuarantineCommand(program, io);
  addAuditCommand(program, io);
  addKeysCommand(program, io);
  addPlansCommand(program, io);
  addManifestCommand(program, io);
  addPullCommand(program, io);
  addVerifyCommand(program, io);
  addMigrateCommand(program, io);
  addProcessCommands(program, io);
  return program;
}

/** Runs `packhouse` with these arguments. Throws what the command throws; usage errors only set the exit code. */
export async function runCli(io: CliIo, args: readonly string[]): Promise<void> {
  try {
    await createProgram(io).parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    io.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
  }
}

/** Commander's message with its suggestion or a hint to the help, as one line in the form of all errors. */
function usageLine(text: string): string {
  const words = text
    .trim()
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ');
  const wayOut = words.includes('Did you mean') ? '' : ' See --help.';
  return `packhouse: ${words.replace(/(?<=[^.?!)])$/, '.')}${wayOut} [USAGE]`;
}
