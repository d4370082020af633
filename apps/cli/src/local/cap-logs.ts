import { copyFile, readdir, stat, truncate } from 'node:fs/promises';
import path from 'node:path';

/** What a log file may grow to before it is set aside, in bytes: with the one set aside, twice that on disk. */
const MAX_BYTES = 16 * 1_024 * 1_024;
/** How often the sizes are looked at, in milliseconds. */
const LOOK_EVERY_MS = 5_000;

/**
 * Keeps the files `*.log` of these folders from growing without end: one that has reached its limit is copied to
 * `*.log.1`, over the one before, and emptied. The processes keep writing to the same file, which they opened to
 * append to; what they write between the two steps is lost. Gives what ends it.
 */
export function capLogs(
  folders: readonly string[],
  options: { maxBytes?: number; everyMs?: number } = {},
): () => Promise<void> {
  let looking = Promise.resolve();
  const look = (): void => {
    looking = looking.then(() => capOnce(folders, options.maxBytes ?? MAX_BYTES));
  };
  look();
  const timer = setInterval(look, options.everyMs ?? LOOK_EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await looking;
  };
}

async function capOnce(folders: readonly string[], maxBytes: number): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((each) => each.endsWith('.log'))) {
      // A full disk or a file that is not ours: tried anew at the next look.
      await capFile(path.join(folder, name), maxBytes).catch(() => undefined);
    }
  }
}

async function capFile(file: string, maxBytes: number): Promise<void> {
  if ((await stat(file)).size <= maxBytes) return;
  try {
    await copyFile(file, `${file}.1`);
  } finally {
    // Where there is no space for a copy, space is what is needed.
    await truncate(file, 0);
  }
}
