import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedObject } from './object-store.js';

/** Reads a folder in the order of keys: a folder `a` stands where `a/` does, which is behind `a-b` and `a.b`. */
async function entries(path: string): Promise<string[]> {
  try {
    const found = await readdir(path, { withFileTypes: true });
    return found
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile()))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/**
 * The files under a folder in ascending order of their keys, from those that begin with `prefix` and come after
 * `after`. Holds the names of one folder a level; folders that cannot hold a wanted key are not opened.
 */
export async function* walkFolder(options: {
  root: string;
  prefix: string;
  after: string;
  signal?: AbortSignal | undefined;
  /** The folder's own key, with its `/`; empty for the root. */
  at?: string;
}): AsyncGenerator<ListedObject, void, undefined> {
  const { root, prefix, after, signal } = options;
  // Everything that begins with a prefix is in the folder of its last slash.
  const at = options.at ?? prefix.slice(0, prefix.lastIndexOf('/') + 1);
  for (const name of await entries(join(root, at))) {
    signal?.throwIfAborted();
    const key = at + name;
    if (!key.startsWith(prefix)) continue;
    if (key.endsWith('/')) {
      if (key <= after && !after.startsWith(key)) continue;
      yield* walkFolder({ ...options, at: key });
    } else if (key > after) {
      const stats = await stat(join(root, key)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (stats !== null) yield { key, size: stats.size, modifiedAt: stats.mtime };
    }
  }
}
