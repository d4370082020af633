import type { Command } from 'commander';
import { addCommand } from '../../terminal/command.js';
import { type CliIo, print } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';
import { commandTable } from './command-table.js';
import { COMPLETIONS } from './completion-scripts.js';
import { manPage } from './man-page.js';

/** `packhouse completion` and `packhouse man`, of all commands that the program has when they run. */
export function addDescribingCommands(program: Command, io: CliIo): void {
  const shells = Object.keys(COMPLETIONS);
  addCommand(program, 'completion', `Print the completion of a shell: ${shells.join(', ')}`, 'bash')
    .argument('<shell>', `One of ${shells.join(', ')}`)
    .option('--json', 'Print one JSON object')
    .action(async (shell: string, { json }: { json?: boolean }) => {
      const write = COMPLETIONS[shell];
      if (write === undefined) {
        throw usageError(`There is no completion for "${shell}".`, `The shells are ${shells.join(', ')}.`);
      }
      const script = write(commandTable(program));
      await print(io, json ? { shell, script } : script.trimEnd());
    });
  addCommand(program, 'man', 'Print the manual page, e.g. for `man -l -`')
    .option('--json', 'Print one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      const page = manPage(commandTable(program), program.version() ?? '');
      await print(io, json ? { page } : page.trimEnd());
    });
}
