import { Command, type Help } from 'commander';

/** The options that say where a command works: on a console, or on a database. */
export interface Place {
  server?: string;
  dataDir?: string;
  json?: boolean;
}

type AddCommand = (parent: Command, name: string, description: string, ...examples: string[]) => Command;

/** Adds a command with its description and examples: what follows its name; by default nothing. */
export const addCommand: AddCommand = (parent, name, description, ...examples) => {
  const command = parent.command(name);
  const path = `${parent.parent === null ? '' : 'packhouse '}${parent.name()} ${name}`;
  const lines = (examples.length === 0 ? [''] : examples).map((rest) => `${path} ${rest}`.trimEnd());
  return describeCommand(command, description, ...lines);
};

/** Adds a command that works through a console, or on the database of this machine. */
export const addPlacedCommand: AddCommand = (...given) => withPlace(addCommand(...given));

/** Sets the description of a command, and lines of example. */
export function describeCommand(command: Command, description: string, ...examples: string[]): Command {
  const lines = examples.map((line) => `\n  $ ${line}`);
  return command
    .description(description)
    .addHelpText('after', `\n${lines.length > 1 ? 'Examples' : 'Example'}:${lines.join('')}`);
}

/** Adds the options of `Place`. */
export function withPlace(command: Command): Command {
  return withDataDir(command)
    .option(
      '--server <url>',
      'URL of a console to work through, with PACKHOUSE_TOKEN (default: PACKHOUSE_SERVER)',
    )
    .option('--json', 'Print one JSON object per line');
}

/** Adds the option that names a data folder. */
export function withDataDir(command: Command): Command {
  return command.option(
    '--data-dir <dir>',
    'Data folder of a running `packhouse local` (default: .packhouse)',
  );
}

const COMMON = new Set(['--server', '--data-dir', '--json', '--help']);

/** The options of a command in its help: its own first. */
export const visibleOptions: Help['visibleOptions'] = (command) => {
  const shown = new Command().createHelp().visibleOptions(command);
  const isCommon = ({ long }: { long?: string | undefined }): boolean => COMMON.has(long ?? '');
  return [...shown.filter((option) => !isCommon(option)), ...shown.filter(isCommon)];
};

/** Collects the values of an option that is given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
