import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Deletes the files in a folder that were last written before `before` (milliseconds since the epoch): what killed
 * processes left. Gives their number. Younger ones may be somebody's who is writing right now.
 */
export async function cleanLeftovers(folder: string, before: number): Promise<number> {
  let deleted = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    try {
      if ((await stat(path)).mtimeMs >= before) continue;
      await unlink(path);
      deleted += 1;
    } catch (error) {
      // Another process that starts now does the same.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return deleted;
}
