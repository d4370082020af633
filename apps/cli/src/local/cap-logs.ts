import { copyFile, readdir, stat, truncate } from 'node:fs/promises';
import path from 'node:path';

/** Size at which a log file is rotated, in bytes; with its predecessor it takes twice that. */
const MAX_BYTES = 16 * 1_024 * 1_024;
/** Time between two looks at the sizes, in milliseconds. */
const LOOK_EVERY_MS = 5_000;

/**
 * Rotates the files `*.log` of these folders: one above the limit is copied to `*.log.1`, over the one before, and
 * emptied. Processes keep appending to the same file; lines written between the two steps are lost. Returns a function
 * that ends it.
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
      // The disk may be full, or the file may belong to somebody else: the next look tries again.
      await capFile(path.join(folder, name), maxBytes).catch(() => undefined);
    }
  }
}

async function capFile(file: string, maxBytes: number): Promise<void> {
  if ((await stat(file)).size <= maxBytes) return;
  try {
    await copyFile(file, `${file}.1`);
  } finally {
    // Also if there was no space for the copy: then space is needed most.
    await truncate(file, 0);
  }
}
