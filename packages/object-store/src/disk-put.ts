import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PackhouseError } from '@packhouse/runtime';
import { type DiskFacts, readFacts, withFacts } from './disk-facts.js';
import { makeFolder, syncFolder } from './durable-folder.js';
import { hashFile } from './hash-file.js';
import type { PutOptions } from './object-store.js';

/** Where a store in a folder keeps what; keys never start with a dot, so that these names are free. */
export interface DiskLayout {
  root: string;
  /** Files that have no name yet; on the same file system as the objects. */
  temporary: string;
  /** The path of an object. */
  object(key: string): string;
  /** The path of its facts. */
  facts(key: string): string;
}

/** The layout of a store in this folder. */
export function diskLayout(root: string): DiskLayout {
  return {
    root,
    temporary: join(root, '.tmp'),
    object: (key) => join(root, key),
    facts: (key) => join(root, '.meta', `${key}.json`),
  };
}

/** Does something that needs a folder, once more where the folder is not there yet. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makeFolder(folder);
    return work();
  }
}

/** Writes a file without a name, on disk and not only in memory when this resolves, and lets `check` look at it. */
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

/**
 * Writes an object and its facts so that a crash at any instant leaves the old object with its facts or the new one:
 *
 *   write file, fsync, read back and hash ─▶ facts (new and old), fsync, rename ─▶ rename file ─▶ fsync folder
 *
 * `alone` runs the renames of one key one after the other. Throws OBJECT_MISMATCH when what the disk gives back has
 * another SHA-256 than `options` says, and what the file system throws.
 */
export async function putOnDisk(
  layout: DiskLayout,
  key: string,
  body: Buffer,
  options: PutOptions,
  alone: (key: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { sha256, contentType, metadata, signal } = options;
  const { path, checked: facts } = await writeTemporary(layout, body, async (file): Promise<DiskFacts> => {
    const back = await hashFile(file, signal);
    if (back.sha256 !== sha256 || back.size !== body.length) {
      throw new PackhouseError({
        code: 'OBJECT_MISMATCH',
        message: `Object ${key} was written to disk:${layout.root} with SHA-256 ${sha256} announced, but ${back.sha256} (${back.size} of ${body.length} bytes) was read back.`,
        hint: 'If it happens again, check the disk and the memory of this machine.',
        data: { key, expected: sha256, got: back.sha256 },
      });
    }
    const { mtimeNs } = await file.stat({ bigint: true });
    return { size: back.size, mtimeNs: String(mtimeNs), sha256, contentType, metadata: { ...metadata } };
  });
  try {
    await alone(key, async () => {
      signal?.throwIfAborted();
      const list = withFacts(await readFacts(layout.facts(key)), facts);
      const text = Buffer.from(JSON.stringify(list));
      const written = await writeTemporary(layout, text, async () => {});
      await take(written.path, layout.facts(key));
      await take(path, layout.object(key));
    });
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  }
}
