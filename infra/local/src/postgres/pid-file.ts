import { randomBytes } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';

/**
 * Removes a pid file if its first line is still `named`. If another server wrote it meanwhile it is put back: without
 * it a second server could start on the same data folder.
 */
export async function removePidFile(pidFile: string, named: string): Promise<void> {
  const aside = `${pidFile}.${randomBytes(4).toString('hex')}`;
  try {
    await rename(pidFile, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await firstLine(aside)) === named) await rm(aside, { force: true });
  else await rename(aside, pidFile);
}

/** Null if there is no such file. */
export async function firstLine(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).split('\n')[0] ?? '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
