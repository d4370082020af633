import { readFile } from 'node:fs';
import { access, constants, type FileHandle, open, stat, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type Context, systemClock } from '@packhouse/runtime';
import {
  checkExpected,
  checkKey,
  checkPrefix,
  checkPut,
  checkRange,
  checkSame,
  createGuard,
  objectMissing,
  rangeBeyondEnd,
} from './checks.js';
import { cleanLeftovers, type DiskDeed, diskError, hashFile, makeFolder, walkFolder } from './disk-files.js';
import { type DiskLayout, diskLayout, getFacts, ignoreMissing, putOnDisk, readFacts } from './disk-put.js';
import type { ByteRange, ExpectedObject, ObjectInfo, ObjectStore } from './object-store.js';

/** The callback form: a fifth faster than that of fs/promises, which reads in chunks. */
const readWhole = promisify<string, { signal: AbortSignal | undefined }, Buffer>(readFile);

/** Age in milliseconds from which a temporary file is a leftover: no process still writes it. */
const LEFTOVER_AGE_MS = 3_600_000;
const STREAM_CHUNK_BYTES = 262_144;

interface DiskStoreOptions {
  /** The folder; created if it is missing. */
  directory: string;
  context?: Pick<Context, 'logger' | 'clock'> | undefined;
}

/**
 * Opens a store in a folder: an object is the file `<directory>/<key>`, its facts are `<directory>/.meta/<key>.json`.
 *
 * `put` reads the file back before renaming it to its key, so it always returns `verified: true`. Throws
 * OBJECT_STORE_INVALID, OBJECT_STORE_UNAVAILABLE or DISK_FULL if the folder cannot be used.
 */
export async function createDiskStore(options: DiskStoreOptions): Promise<ObjectStore> {
  const root = resolve(options.directory);
  const description = `disk:${root}`;
  const layout = diskLayout(root);
  const guarded = createGuard<DiskDeed>((error, key, deed) => diskError(error, key, deed, description));
  const requireExpected = createExpectedCheck(layout, description);

  await guarded('The folder', 'opened in', undefined, async () => {
    await makeFolder(layout.temporary);
    await access(root, constants.R_OK | constants.W_OK | constants.X_OK);
    const now = (options.context?.clock ?? systemClock).now();
    const deleted = await cleanLeftovers(layout.temporary, now - LEFTOVER_AGE_MS);
    if (deleted > 0)
      options.context?.logger.info({ deleted }, 'deleted what killed processes left in the object store');
  });

  return {
    description,

    put: async (key, body, putOptions) => {
      checkPut(key, putOptions);
      await guarded(key, 'written to', putOptions.signal, () =>
        putOnDisk(layout, key, body, putOptions, async () => {
          const { once, sha256: expected, signal } = putOptions;
          if (once !== true) return;
          const there = (await findObject(layout, key, signal).catch(ignoreMissing)) ?? null;
          if (there?.sha256 !== undefined) checkSame(key, description, { expected, got: there.sha256 });
        }),
      );
      return { verified: true };
    },

    read: async (key, { range, signal } = {}) => {
      checkKey(key);
      checkRange(key, range);
      return guarded(key, 'read from', signal, async () => {
        if (range === undefined) return readWhole(layout.object(key), { signal });
        const bytes = await readRange(layout.object(key), range);
        if (bytes === null) throw objectMissing(key, description);
        if (bytes.length === 0) throw rangeBeyondEnd(key, range, description);
        signal?.throwIfAborted();
        return bytes;
      });
    },

    stream: async (key, { range, expected, signal } = {}) => {
      checkKey(key);
      checkRange(key, range);
      return guarded(key, 'read from', signal, async (): Promise<Readable> => {
        const file = await open(layout.object(key), 'r');
        try {
          const stats = await file.stat();
          if (!stats.isFile()) throw objectMissing(key, description);
          if (expected !== undefined) await requireExpected(key, file, expected, signal);
          if (range !== undefined && range.start >= stats.size) throw rangeBeyondEnd(key, range, description);
          signal?.throwIfAborted();
          const stream = file.createReadStream({ ...range, highWaterMark: STREAM_CHUNK_BYTES });
          return signal === undefined ? stream : addAbortSignal(signal, stream);
        } catch (error) {
          await file.close();
          throw error;
        }
      });
    },

    head: async (key, { signal } = {}) => {
      checkKey(key);
      try {
        return await guarded(key, 'read from', signal, () => findObject(layout, key, signal));
      } catch (error) {
        if ((error as { code?: unknown }).code === 'OBJECT_MISSING') return null;
        throw error;
      }
    },

    list: async function* (prefix, { after = '', signal } = {}) {
      checkPrefix(prefix);
      try {
        signal?.throwIfAborted();
        yield* walkFolder({ root, prefix, after, signal });
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        throw diskError(error, prefix === '' ? 'Everything' : prefix, 'listed in', description);
      }
    },

    delete: async (key) => {
      checkKey(key);
      await guarded(key, 'deleted from', undefined, () =>
        layout.alone(key, async () => {
          for (const path of [layout.object(key), layout.facts(key)]) {
            await unlink(path).catch(ignoreMissing);
          }
        }),
      );
    },

    close: async () => {},
  };
}

/** The bytes of a file in this range: none if it is shorter; null if there is a folder in its place. */
async function readRange(path: string, { start, end }: ByteRange): Promise<Buffer | null> {
  const file = await open(path, 'r');
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    if (start >= stats.size) return Buffer.alloc(0);
    const length = Math.min(end + 1, stats.size) - start;
    const bytes = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await file.read(bytes, 0, length, start);
    return bytesRead === length ? bytes : Buffer.alloc(0);
  } finally {
    await file.close();
  }
}

/** Files whose SHA-256 is kept. */
const MAX_IDENTIFIED = 10_000;

/**
 * Creates the check that an open file is the one expected: by its size and its facts; a file that another program wrote or
 * changed is hashed. The SHA-256 is kept as long as a file stays the same, so that parts of it cost a look at its times.
 */
function createExpectedCheck(layout: DiskLayout, description: string) {
  const known = new Map<string, string>();
  return async (
    key: string,
    file: FileHandle,
    expected: ExpectedObject,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const stats = await file.stat({ bigint: true });
    const size = Number(stats.size);
    checkExpected(key, description, expected, { size });
    const state = `${stats.dev} ${stats.ino} ${stats.size} ${stats.ctimeNs}`;
    let sha256 = known.get(state);
    if (sha256 === undefined) {
      const facts = getFacts(await readFacts(layout.facts(key)), stats);
      ({ sha256 } = facts ?? (await hashFile(file, size, signal)));
      if (known.size >= MAX_IDENTIFIED) known.clear();
      known.set(state, sha256);
    }
    checkExpected(key, description, expected, { sha256 });
  };
}

/** What is known of an object; null if there is a folder in its place. */
async function findObject(
  layout: DiskLayout,
  key: string,
  signal: AbortSignal | undefined,
): Promise<ObjectInfo | null> {
  const path = layout.object(key);
  const stats = await stat(path, { bigint: true });
  if (!stats.isFile()) return null;
  const list = await readFacts(layout.facts(key));
  const found = { key, size: Number(stats.size), modifiedAt: stats.mtime };
  const facts = getFacts(list, stats);
  if (facts !== undefined) return { ...found, sha256: facts.sha256, metadata: facts.metadata };
  // Copied here by another program with another time: its bytes decide which facts belong to it.
  const file = await open(path, 'r');
  try {
    const { sha256 } = await hashFile(file, found.size, signal);
    return { ...found, sha256, metadata: list.find((item) => item.sha256 === sha256)?.metadata ?? {} };
  } finally {
    await file.close();
  }
}
