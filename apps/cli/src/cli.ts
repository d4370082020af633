import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { visibleOptions } from './terminal/command.js';
import type { CliIo } from './terminal/io.js';

/** The exit code of a command line that does not parse. */
const USAGE_EXIT = 64;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

type AddCommand = (program: Command, io: CliIo) => void;

const processes = async (): Promise<AddCommand> => (await import('./commands/process.js')).addProcessCommands;

/** The commands, in the order of the help. Loaded when needed: to load all of them takes as long as a small command. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  local: async () => (await import('./commands/local.js')).addLocalCommand,
  status: async () => (await import('./commands/status/status.js')).addStatusCommand,
  doctor: async () => (await import('./commands/doctor.js')).addDoctorCommand,
  backfill: async () => (await import('./commands/backfill/backfill.js')).addBackfillCommand,
  alarms: async () => (await import('./commands/status/alarms.js')).addAlarmsCommand,
  nodes: async () => (await import('./commands/nodes.js')).addNodesCommand,
  workers: async () => (await import('./commands/workers.js')).addWorkersCommand,
  quarantine: async () => (await import('./commands/quarantine.js')).addQuarantineCommand,
  budget: async () => (await import('./commands/budget.js')).addBudgetCommand,
  usage: async () => (await import('./commands/usage.js')).addUsageCommand,
  schedule: async () => (await import('./commands/schedule.js')).addScheduleCommand,
  audit: async () => (await import('./commands/audit/audit.js')).addAuditCommand,
  adopt: async () => (await import('./commands/adopt.js')).addAdoptCommand,
  keys: async () => (await import('./commands/keys/keys.js')).addKeysCommand,
  operators: async () => (await import('./commands/operators.js')).addOperatorsCommand,
  plans: async () => (await import('./commands/keys/plans.js')).addPlansCommand,
  manifest: async () => (await import('./commands/manifest.js')).addManifestCommand,
  pull: async () => (await import('./commands/pull/pull.js')).addPullCommand,
  verify: async () => (await import('./commands/verify/verify.js')).addVerifyCommand,
  migrate: async () => (await import('./commands/migrate.js')).addMigrateCommand,
  install: async () => (await import('./commands/install/install.js')).addInstallCommand,
  gateway: processes,
  ingester: processes,
  packer: processes,
  console: processes,
};

/** Creates the program with the command of this name; without one, or with an unknown one, with all of them. */
export async function createProgram(io: CliIo, name?: string): Promise<Command> {
  const own = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const all = name === '--version' ? [] : [...new Set(Object.values(COMMANDS))];
  const adding = own === undefined ? all : [own];
  // Commands inherit these settings when they are added.
  const program = new Command('packhouse')
    .description('Blockchain history in bulk: proved, packed and served')
    .version(version, '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand(false)
    .configureHelp({ visibleOptions })
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(`${usageLine(text)}\n`),
    })
    .addHelpText('after', '\nExample:\n  $ packhouse local');
  for (const add of await Promise.all(adding.map((load) => load()))) add(program, io);
  return program;
}

/** Runs `packhouse` with these arguments. Throws what the command throws; usage errors only set the exit code. */
export async function runCli(io: CliIo, args: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(io, args[0]);
    await program.parseAsync([...args], { from: 'user' });
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
