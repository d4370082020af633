import type { CommandRow } from './command-table.js';

/** Options of many commands, which the page explains once. */
const COMMON = ['--server', '--data-dir', '--json', '--help'];

/** packhouse(1), in the macros of man(7). */
export function manPage([root, ...rows]: readonly CommandRow[], version: string): string {
  const leaves = rows.filter(({ children }) => children.length === 0);
  const common = new Map(
    leaves.flatMap(({ options }) => options.map((option) => [option.long, option] as const)),
  );
  const option = ({ flags, summary }: { flags: string; summary: string }): string[] => [
    '.TP',
    `.B ${text(flags)}`,
    text(summary),
  ];
  return [
    `.TH PACKHOUSE 1 "" "Packhouse ${version}"`,
    '.SH NAME',
    `packhouse \\- ${text(root?.summary ?? '')}`,
    '.SH SYNOPSIS',
    '.B packhouse',
    text('<command> [options]'),
    '.SH COMMON OPTIONS',
    ...COMMON.flatMap((long) => {
      const found = common.get(long);
      return found === undefined ? [] : option(found);
    }),
    '.SH COMMANDS',
    ...leaves.flatMap(({ path, args, summary, options }) => [
      `.SS ${text([path, ...args].join(' '))}`,
      text(`${summary}.`),
      ...options.filter(({ long }) => !COMMON.includes(long)).flatMap(option),
    ]),
    '.SH EXIT STATUS',
    text(
      '0: done. 2: done, but something is missing or damaged. 64: the command line is wrong. Others: docs/commands.md.',
    ),
    '',
  ].join('\n');
}

/** Text of roff: backslashes and dashes escaped, and no line that begins with a request. */
function text(plain: string): string {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
    .replace(
      /[^\p{ASCII}]/gu,
      (char) => `\\[u${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
