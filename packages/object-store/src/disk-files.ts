import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PackhouseError } from '@packhouse/runtime';
import { objectMissing } from './checks.js';
import type { ListedObject } from './object-store.js';

const CHUNK_BYTES = 1_048_576;
const SMALL_BYTES = 32_768;

/** Syncs a folder, so that its names survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Creates a folder and its parents if they are missing, so that they survive a power cut.
 *
 * Not `mkdir` with `recursive`: in Node 20 and 22 it never ends in a folder that cannot have children, such as /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  if (await makeOne(path)) return;
  await makeFolder(dirname(path));
  if (!(await makeOne(path))) {
    throw Object.assign(new Error(`The folder ${path} cannot be made.`), { code: 'ENOENT', path });
  }
}

/** Creates one folder if it does not exist; false if its parent is missing. */
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

/** Chunks that no file is read into now: a new one for each file would be a megabyte of garbage. */
const spareChunks: Buffer[] = [];
const MAX_SPARE = 2;

/**
 * The SHA-256 (hex) and the size of an open file, read from its start in chunks; `expected` is its size as far as that is
 * known, which saves a look behind the end.
 *
 * Hashes on the main thread, 0.6 ms a MB: crypto.subtle has a pool, but copies its input first and is no faster.
 */
export async function hashFile(
  file: FileHandle,
  expected: number,
  signal?: AbortSignal,
): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256');
  const chunk =
    expected < SMALL_BYTES
      ? Buffer.allocUnsafe(SMALL_BYTES)
      : (spareChunks.pop() ?? Buffer.allocUnsafe(CHUNK_BYTES));
  let size = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, size);
    hash.update(chunk.subarray(0, bytesRead));
    size += bytesRead;
    // A file that ends where it should may still go on there, unless less was read than there was room for.
    if (bytesRead === 0 || (bytesRead < chunk.length && size >= expected)) break;
  }
  if (chunk.length === CHUNK_BYTES && spareChunks.length < MAX_SPARE) spareChunks.push(chunk);
  return { sha256: hash.digest('hex'), size };
}

/**
 * The files under a folder in ascending order of their keys that begin with `prefix` and sort after `after`. Keeps
 * the names of one folder per level in memory; folders that cannot contain a wanted key are not opened.
 */
export async function* walkFolder(options: {
  root: string;
  prefix: string;
  after: string;
  signal?: AbortSignal | undefined;
  /** The folder's key, with its `/`; empty for the root. */
  at?: string;
}): AsyncGenerator<ListedObject, void, undefined> {
  const { root, prefix, after, signal } = options;
  // All keys that begin with a prefix are in the folder up to its last slash.
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

/** The entries of a folder in the order of keys: a folder `a` sorts as `a/`, which is after `a-b` and `a.b`. */
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
 * Deletes the files in a folder that were last written before `before` (milliseconds since the epoch): the leftovers
 * of killed processes. Returns their number. Newer files may belong to a process that is still writing.
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
      // Another starting process deleted it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return deleted;
}

/** The words for an operation on an object, or on the store's folder itself, in messages. */
export type DiskDeed = 'read from' | 'written to' | 'deleted from' | 'listed in' | 'opened in';

/** Converts an error of the file system; any other is returned unchanged. */
export function diskError(error: unknown, key: string, deed: DiskDeed, where: string): unknown {
  const errno = (error as NodeJS.ErrnoException).code;
  if (error instanceof PackhouseError || typeof errno !== 'string' || !/^E[A-Z0-9]+$/.test(errno))
    return error;
  const said = (code: 'DISK_FULL' | 'OBJECT_STORE_UNAVAILABLE' | 'OBJECT_STORE_INVALID', hint: string) =>
    new PackhouseError({
      code,
      message: `${key} could not be ${deed} ${where}: ${errno}.`,
      hint,
      data: { key, errno },
      cause: error,
    });
  switch (errno) {
    case 'ENOENT':
    case 'EISDIR':
    case 'ENOTDIR':
    case 'EEXIST':
      if (deed === 'read from') return objectMissing(key, where, error);
      return errno === 'ENOENT'
        ? said(
            'OBJECT_STORE_UNAVAILABLE',
            'Its folder went away while it was in use; the work is tried again.',
          )
        : said('OBJECT_STORE_INVALID', 'A file stands where a folder is needed, or the other way round.');
    case 'ENOSPC':
    case 'EDQUOT':
      return said(
        'DISK_FULL',
        'Free space on that disk, or point OBJECT_STORE to another; the work is tried again.',
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return said('OBJECT_STORE_UNAVAILABLE', 'Let the user that runs Packhouse read and write there.');
    default:
      return said('OBJECT_STORE_UNAVAILABLE', 'Look at the disk; the work is tried again.');
  }
}
