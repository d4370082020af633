import { Command, CommanderError } from 'commander';
import { missingPackages, type OptionalPackage, requirePackages, version } from './installation/packages.js';
import { visibleOptions } from './terminal/command.js';
import type { CliIo } from './terminal/io.js';

/** The exit code of a command line that does not parse. */
const USAGE_EXIT = 64;

type AddCommand = (program: Command, io: CliIo) => unknown;

/** Packages that its module imports, beside those that are always there; and how it is loaded. */
type Loaded = readonly [needs: readonly OptionalPackage[], load: () => Promise<AddCommand>];

/** What most commands of operators need; it brings the others. */
const OPERATIONS: readonly OptionalPackage[] = ['operations'];
const LOCAL: readonly OptionalPackage[] = ['gateway', 'ingester', 'packer', 'console', 'operations'];

/** Each needs its own package, which is asked for when it runs. */
const PROCESSES: Loaded = [[], async () => (await import('./commands/process.js')).addProcessCommands];

const DESCRIBING: Loaded = [
  [],
  async () => (await import('./commands/describe/describe-commands.js')).addDescribingCommands,
];

/** The commands, in the order of the help. Loaded when needed: to load all of them takes as long as a small command. */
const COMMANDS: Readonly<Record<string, Loaded>> = {
  local: [LOCAL, async () => (await import('./commands/local.js')).addLocalCommand],
  status: [OPERATIONS, async () => (await import('./commands/status/status.js')).addStatusCommand],
  doctor: [
    ['networks', 'node-rpc', 'pipeline'],
    async () => (await import('./commands/doctor.js')).addDoctorCommand,
  ],
  backfill: [OPERATIONS, async () => (await import('./commands/backfill/backfill.js')).addBackfillCommand],
  alarms: [OPERATIONS, async () => (await import('./commands/status/alarms.js')).addAlarmsCommand],
  nodes: [OPERATIONS, async () => (await import('./commands/nodes.js')).addNodesCommand],
  workers: [OPERATIONS, async () => (await import('./commands/workers.js')).addWorkersCommand],
  lake: [OPERATIONS, async () => (await import('./commands/lake.js')).addLakeCommand],
  quarantine: [OPERATIONS, async () => (await import('./commands/quarantine.js')).addQuarantineCommand],
  budget: [OPERATIONS, async () => (await import('./commands/budget.js')).addBudgetCommand],
  usage: [OPERATIONS, async () => (await import('./commands/usage.js')).addUsageCommand],
  hooks: [OPERATIONS, async () => (await import('./commands/notifications/hooks.js')).addHooksCommand],
  notifications: [
    OPERATIONS,
    async () => (await import('./commands/notifications/notifications.js')).addNotificationsCommand,
  ],
  schedule: [OPERATIONS, async () => (await import('./commands/schedule.js')).addScheduleCommand],
  audit: [OPERATIONS, async () => (await import('./commands/audit/audit.js')).addAuditCommand],
  adopt: [OPERATIONS, async () => (await import('./commands/adopt.js')).addAdoptCommand],
  applications: [
    OPERATIONS,
    async () => (await import('./commands/keys/applications.js')).addApplicationsCommand,
  ],
  keys: [OPERATIONS, async () => (await import('./commands/keys/keys.js')).addKeysCommand],
  operators: [OPERATIONS, async () => (await import('./commands/operators.js')).addOperatorsCommand],
  plans: [OPERATIONS, async () => (await import('./commands/keys/plans.js')).addPlansCommand],
  manifest: [OPERATIONS, async () => (await import('./commands/manifest.js')).addManifestCommand],
  pull: [[], async () => (await import('./commands/pull/pull.js')).addPullCommand],
  feed: [[], async () => (await import('./commands/feed.js')).addFeedCommand],
  verify: [[], async () => (await import('./commands/verify/verify.js')).addVerifyCommand],
  migrate: [['database'], async () => (await import('./commands/migrate.js')).addMigrateCommand],
  install: [[], async () => (await import('./commands/install/install.js')).addInstallCommand],
  completion: DESCRIBING,
  man: DESCRIBING,
  gateway: PROCESSES,
  ingester: PROCESSES,
  packer: PROCESSES,
  console: PROCESSES,
};

/** Creates the program with the command of this name; without one, or with an unknown one, with all of them. */
export async function createProgram(io: CliIo, name?: string): Promise<Command> {
  const known = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  // What describes all commands needs all.
  const [needs = [], load] = known === undefined || known === DESCRIBING ? [] : known;
  requirePackages(`\`packhouse ${name}\``, needs);
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
  const adding = load !== undefined ? [await load()] : name === '--version' ? [] : await loadAll();
  for (const add of adding) add(program, io);
  return program;
}

/** All commands for the help; of one whose packages are not installed, its name and what it needs. */
function loadAll(): Promise<AddCommand[]> {
  const adding = Object.entries(COMMANDS).map(async ([name, [needs, load]]): Promise<AddCommand> => {
    const missing = missingPackages(needs);
    if (missing.length === 0) return load();
    const packages = missing.map((each) => `@packhouse/${each}`);
    return (program) => program.command(name).description(`(needs ${packages.join(', ')})`);
  });
  return Promise.all(adding).then((all) => [...new Set(all)]);
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
