import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Makes a folder and those above it where they are missing, so that they survive a power cut.
 *
 * Not `mkdir` with `recursive`: in Node 20 and 22 that never ends under a folder which cannot have children, as /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  if (await makeOne(path)) return;
  await makeFolder(dirname(path));
  if (!(await makeOne(path))) {
    throw Object.assign(new Error(`The folder ${path} cannot be made.`), { code: 'ENOENT', path });
  }
}

/** Makes one folder, or finds it there; false when the one above it is missing. */
async function makeOne(path: string): Promise<boolean> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(path) !== path) return false;
    if ((code === 'EEXIST' || code === 'EISDIR') && (await stat(path)).isDirectory()) return true;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}
