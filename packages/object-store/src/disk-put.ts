import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PackhouseError } from '@packhouse/runtime';
import { hashFile, makeFolder, syncFolder } from './disk-files.js';
import type { PutOptions } from './object-store.js';

/*
 * Facts about an object that its file cannot hold are in `.meta/<key>.json`: a list of facts, each with the size and
 * the time of its file. The list is written before the object is renamed to its key, and keeps the facts of the
 * previous file: whichever of the two files a crash leaves under the key, its facts are in the list. An object without
 * metadata has no list: its file says the rest.
 */

/** Facts of one version of an object. */
interface DiskFacts {
  size: number;
  /** Modification time of the file in nanoseconds, decimal. */
  mtimeNs: string;
  sha256: string;
  contentType: string;
  metadata: Record<string, string>;
}

/** Most versions in a list: the new one and those that concurrent writers may be about to replace. */
const VERSIONS = 4;

/** The paths of a store in a folder; keys never start with a dot, so these names are free. */
export type DiskLayout = ReturnType<typeof diskLayout>;

/** The layout of a store in this folder. */
export function diskLayout(root: string) {
  return {
    root,
    /** Unfinished files; on the same file system as the objects. */
    temporary: join(root, '.tmp'),
    /** The path of an object. */
    object: (key: string) => join(root, key),
    /** The path of its facts. */
    facts: (key: string) => join(root, '.meta', `${key}.json`),
    alone: oneAtATime(),
  };
}

/** Runs work one after another for the same key, concurrently for different keys. */
function oneAtATime() {
  const last = new Map<string, Promise<void>>();
  return (key: string, work: () => Promise<void>): Promise<void> => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work);
    const settled = mine.then(
      () => {},
      () => {},
    );
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    return mine;
  };
}

/**
 * Writes an object and its facts so that a crash at any instant leaves the old object with its facts or the new one:
 *
 *   write file, fsync, read back and hash ─▶ facts (new and old), fsync, rename ─▶ rename file ─▶ fsync folder
 *                                         └────────── no metadata ─────────────▶ rename file ─▶ fsync folder ─▶ no facts
 *
 * `check` runs before the first rename, while no other put of this process changes the object. Throws what it throws,
 * OBJECT_MISMATCH if the bytes on disk do not have the SHA-256 of `options`, and errors of the file system.
 */
export async function putOnDisk(
  layout: DiskLayout,
  key: string,
  body: Buffer,
  options: PutOptions,
  check: () => Promise<void>,
): Promise<void> {
  const { sha256, contentType, metadata, signal } = options;
  const alone = Object.keys(metadata).length === 0;
  const { path, checked: facts } = await writeTemporary(
    layout,
    body,
    async (file): Promise<DiskFacts | null> => {
      const back = await hashFile(file, body.length, signal);
      if (back.sha256 !== sha256 || back.size !== body.length) {
        throw new PackhouseError({
          code: 'OBJECT_MISMATCH',
          message: `Object ${key} was written to disk:${layout.root} with SHA-256 ${sha256} announced, but ${back.sha256} (${back.size} of ${body.length} bytes) was read back.`,
          hint: 'If it happens again, check the disk and the memory of this machine.',
          data: { key, expected: sha256, got: back.sha256 },
        });
      }
      if (alone) return null;
      const { mtimeNs } = await file.stat({ bigint: true });
      return { size: back.size, mtimeNs: String(mtimeNs), sha256, contentType, metadata: { ...metadata } };
    },
  );
  try {
    await layout.alone(key, async () => {
      signal?.throwIfAborted();
      await check();
      if (facts !== null) await addFacts(layout, key, facts);
      await take(path, layout.object(key));
      if (facts === null) await unlink(layout.facts(key)).catch(ignoreMissing);
    });
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  }
}

async function addFacts(layout: DiskLayout, key: string, facts: DiskFacts): Promise<void> {
  const list = [facts, ...(await readFacts(layout.facts(key)))].slice(0, VERSIONS);
  const text = Buffer.from(JSON.stringify(list));
  const written = await writeTemporary(layout, text, async () => {});
  await take(written.path, layout.facts(key));
}

/** For the deletion of a file that may not be there. */
export function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (!['ENOENT', 'ENOTDIR', 'EISDIR'].includes(error.code ?? '')) throw error;
}

/** Runs `work`; if the folder is missing, creates it and runs `work` again. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makeFolder(folder);
    return work();
  }
}

/** Writes a temporary file and runs `check` on it; when this resolves, the file is synced to disk. */
async function writeTemporary<T>(
  layout: DiskLayout,
  bytes: Uint8Array,
  check: (file: FileHandle) => Promise<T>,
): Promise<{ path: string; checked: T }> {
  const path = join(layout.temporary, randomUUID());
  const file = await inFolder(layout.temporary, () => open(path, 'wx+'));
  try {
    await file.writeFile(bytes);
    await file.sync();
    return { path, checked: await check(file) };
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

async function take(path: string, name: string): Promise<void> {
  const folder = dirname(name);
  await inFolder(folder, () => rename(path, name));
  await syncFolder(folder);
}

/** The list in this file, newest first; empty if there is none or it cannot be read. */
export async function readFacts(path: string): Promise<DiskFacts[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list)
      ? list.filter((item) => typeof item === 'object' && item !== null && isFacts(item))
      : [];
  } catch {
    return [];
  }
}

function isFacts(value: unknown): value is DiskFacts {
  const { size, mtimeNs, sha256, contentType, metadata } = value as Record<string, unknown>;
  return (
    typeof size === 'number' &&
    typeof mtimeNs === 'string' &&
    typeof sha256 === 'string' &&
    typeof contentType === 'string' &&
    typeof metadata === 'object' &&
    metadata !== null
  );
}

/** The facts in the list of the file with this size and time, if any. */
export function getFacts(list: readonly DiskFacts[], stats: BigIntStats): DiskFacts | undefined {
  return list.find(({ size, mtimeNs }) => BigInt(size) === stats.size && mtimeNs === String(stats.mtimeNs));
}
