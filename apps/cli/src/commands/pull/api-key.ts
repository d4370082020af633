import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { checkApiKey } from '@packhouse/client';
import type { CliIo } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';

/** Permissions of others than the owner. */
const OPEN_TO_OTHERS = 0o077;

/**
 * The API key: from the file if one is named, else from PACKHOUSE_API_KEY, else from a prompt on a terminal, without an
 * echo. Throws USAGE, which never repeats the key.
 */
export async function readApiKey(io: CliIo, file: string | undefined): Promise<string> {
  if (file !== undefined) return checkApiKey(await keyInFile(io, file));
  const given = io.env.PACKHOUSE_API_KEY?.trim() ?? '';
  if (given !== '' || io.stdin?.isTTY !== true) return checkApiKey(given);
  return checkApiKey((await ask(io, io.stdin)).trim());
}

async function keyInFile(io: CliIo, file: string): Promise<string> {
  const full = path.resolve(io.cwd, file);
  try {
    const text = await readFile(full, 'utf8');
    if (((await stat(full)).mode & OPEN_TO_OTHERS) !== 0) {
      io.stderr.write(`Warning: other users can read ${file}. Run chmod 600 ${file}.\n`);
    }
    return text.trim();
  } catch (cause) {
    throw usageError(
      `Cannot read ${file} of --api-key-file: ${(cause as Error).message}.`,
      'Check its name.',
      cause,
    );
  }
}

async function ask(io: CliIo, input: NonNullable<CliIo['stdin']>): Promise<string> {
  io.stderr.write('API key: ');
  // What is typed is echoed by readline: to nowhere.
  const nowhere = new Writable({ write: (_, __, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  try {
    return await lines.question('', { signal: io.signal });
  } finally {
    lines.close();
    io.stderr.write('\n');
  }
}
