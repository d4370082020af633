import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { quoteFiles } from '@packhouse/client';
import type { Match } from '@packhouse/rows';
import { counted, formatBytes, formatRange } from '../../terminal/format.js';
import { type CliIo, print } from '../../terminal/io.js';
import type { PullRequest } from './open-mirror.js';
import { PARTIAL, printMissing, printSkipped } from './summary.js';
import type { RowTarget } from './target.js';

interface DryRun extends Omit<PullRequest, 'waits'> {
  match: Match;
  out: string;
  target: RowTarget | null;
}

/** `packhouse pull --dry-run`. */
export async function dryRun(
  io: CliIo,
  { address, http, kind, from, to, match, out, target, options }: DryRun,
): Promise<void> {
  const parts = target?.keep !== true;
  const quote = await quoteFiles({ address, http }, { kind, from, to, match, parts }, io.signal);
  const free = await freeSpace(path.resolve(io.cwd, target?.work ?? out));
  const { files, bytes, requests, missing, limitedTo } = quote;
  const whole = missing.length === 0 && limitedTo === null;
  if (!whole) io.exitCode = PARTIAL;
  if (options.json === true) {
    await print(io, { event: 'quote', ...quote, free, whole });
    return;
  }
  await print(
    io,
    `${counted(files, 'file')} (${formatBytes(bytes)}) of ${kind}, blocks ${formatRange(quote.from, quote.to)}, at most ${counted(requests, 'request')}. Free disk space: ${formatBytes(free)}.`,
  );
  await printSkipped(io, quote.skippedFiles);
  await printMissing(io, { holes: missing, limitedTo });
}

/** The free bytes of the disk that a folder is on, or would be. */
async function freeSpace(folder: string): Promise<number> {
  const found = await statfs(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || path.dirname(folder) === folder) throw error;
    return null;
  });
  return found === null ? freeSpace(path.dirname(folder)) : found.bavail * found.bsize;
}
