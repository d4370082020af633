import type { Command, Option } from 'commander';
import { visibleOptions } from '../../terminal/command.js';

/** A command as completions and the man page need it. */
export interface CommandRow {
  /** `packhouse`, `packhouse keys`, `packhouse keys create`, … */
  path: string;
  summary: string;
  /** As in a usage line: `<id>`, `[key]`, `<path...>`. */
  args: string[];
  options: OptionRow[];
  children: { name: string; summary: string }[];
}

interface OptionRow {
  /** `-V, --version`, `--kinds <list>`. */
  flags: string;
  long: string;
  summary: string;
  takesValue: boolean;
  takesFile: boolean;
  /** The words that its description lists after a colon. */
  values: string[];
}

/** Every command, each parent before its children. */
export function commandTable(command: Command, parent = ''): CommandRow[] {
  const path = `${parent} ${command.name()}`.trim();
  const row: CommandRow = {
    path,
    summary: command.description(),
    args: command.registeredArguments.map((each) => {
      const name = `${each.name()}${each.variadic ? '...' : ''}`;
      return each.required ? `<${name}>` : `[${name}]`;
    }),
    options: visibleOptions(command).map(toOptionRow),
    children: command.commands.map((each) => ({ name: each.name(), summary: each.description() })),
  };
  return [row, ...command.commands.flatMap((child) => commandTable(child, path))];
}

function toOptionRow({ flags, long, description, required, optional }: Option): OptionRow {
  const takesValue = required || optional;
  const [, list = ''] = /: ([a-z][a-z-]*(?:(?:, | or |, or )[a-z][a-z-]*)+)/.exec(description) ?? [];
  return {
    flags,
    long: long ?? flags,
    summary: description,
    takesValue,
    takesFile: takesValue && /<(?:file|path|dir|folder)/.test(flags),
    values: takesValue && list !== '' ? list.split(/, or |, | or /) : [],
  };
}
