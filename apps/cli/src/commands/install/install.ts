import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { addCommand } from '../../terminal/command.js';
import { type CliIo, print } from '../../terminal/io.js';
import { type SystemdFile, systemdFiles } from './systemd-files.js';

interface Options {
  to?: string;
  json?: boolean;
}

/** Folders that the units hide from their processes. */
const HIDDEN = /^\/(home|root|run\/user|tmp|var\/tmp)\//;

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));

/** `packhouse install --systemd`. */
export function addInstallCommand(program: Command, io: CliIo): void {
  addCommand(
    program,
    'install',
    'Print the systemd units of all services, or write them into a folder',
    '--systemd',
    '--systemd --to /etc',
  )
    .requiredOption('--systemd', 'For systemd, the only supported one')
    .option('--to <dir>', 'Write the files below this folder instead, e.g. /etc; replaces older ones')
    .option('--json', 'Print one JSON object per file')
    .action(async (options: Options) => {
      const files = systemdFiles({ node: process.execPath, main: MAIN, version: program.version() ?? '' });
      for (const each of [process.execPath, MAIN]) {
        if (HIDDEN.test(each)) {
          io.stderr.write(`packhouse: The units cannot see ${each}: move it, for example to /opt.\n`);
        }
      }
      for (const file of files) await deliver(io, options, file);
      if (options.to !== undefined && !options.json) {
        await print(io, 'Nothing is started. docs/operating.md#systemd has the next steps.');
      }
    });
}

async function deliver(io: CliIo, { to, json }: Options, { path: name, text }: SystemdFile): Promise<void> {
  if (to === undefined) {
    await print(io, json ? { path: `/etc/${name}`, text } : `# /etc/${name}\n${text}`);
    return;
  }
  const file = path.resolve(io.cwd, to, name);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
    // Everybody may read them, whatever the umask.
    await chmod(file, 0o644);
  } catch (error) {
    throw new PackhouseError({
      code: 'OUTPUT_FAILED',
      message: `Cannot write ${file}: ${(error as Error).message}.`,
      hint: 'Choose another folder with --to, or run it as its owner.',
      cause: error,
    });
  }
  await print(io, json ? { path: file } : `Written: ${file}`);
}
