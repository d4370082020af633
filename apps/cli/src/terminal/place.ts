import type { Command } from 'commander';

/** Adds the options that say where a command works: on a console, or on a database; and --json. */
export function withPlace(command: Command): Command {
  return command
    .option('--server <url>', 'a console to work through, with PACKHOUSE_TOKEN (default: PACKHOUSE_SERVER)')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print JSON, one object a line');
}
