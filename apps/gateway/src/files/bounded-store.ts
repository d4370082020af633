import type { Readable } from 'node:stream';
import type { ExpectedObject, ObjectStore } from '@packhouse/object-store';
import { PackhouseError } from '@packhouse/runtime';
import type { FileRange } from '../http/file-headers.js';

/** Reads objects within a time, whatever the store does. All throw what the store throws, or OBJECT_STORE_UNAVAILABLE. */
export type BoundedStore = ReturnType<typeof createBoundedStore>;

/** How long the store may take for a file in memory, or for the next piece of a stream, in milliseconds. */
const TIMEOUT_MS = 15_000;

/**
 * How long an address is good for, in seconds: the time to begin a download, which may last longer. Stores look at the
 * time when a request arrives.
 */
const ADDRESS_SECONDS = 300;

/** Bounds the reads of a store. */
export function createBoundedStore(objectStore: ObjectStore, timeoutMs = TIMEOUT_MS) {
  /** A store that hangs may not even notice the signal. */
  const bounded = async <T>(key: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const stop = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new PackhouseError({
          code: 'OBJECT_STORE_UNAVAILABLE',
          message: `${objectStore.description} did not answer a request for ${key} within ${timeoutMs} ms.`,
          hint: 'Check that this machine can reach the store.',
          data: { key },
        });
        stop.abort(error);
        reject(error);
      }, timeoutMs);
    });
    try {
      return await Promise.race([work(stop.signal), timeout]);
    } finally {
      clearTimeout(timer);
    }
  };

  async function* pieces(key: string, source: Readable): AsyncGenerator<Buffer, void, undefined> {
    const iterator = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    try {
      for (;;) {
        const next = await bounded(key, () => iterator.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      source.destroy();
    }
  }

  const { presign } = objectStore;
  return {
    /** An address at which the store itself serves the object for five minutes; absent if it has none. */
    address: presign && ((key: string): Promise<string> => bounded(key, () => presign(key, ADDRESS_SECONDS))),
    /** Reads an object, or a part of it, into memory. */
    read: (key: string, range?: FileRange): Promise<Buffer> =>
      bounded(key, (signal) => objectStore.read(key, { range, signal })),
    exists: async (key: string): Promise<boolean> =>
      (await bounded(key, (signal) => objectStore.head(key, { signal }))) !== null,
    /**
     * Opens a part of an object; the time counts for opening it and for each piece that is requested, not for the reader.
     * The signal ends it.
     */
    async stream(
      key: string,
      { signal, ...options }: { range: FileRange; expected: ExpectedObject | undefined; signal: AbortSignal },
    ): Promise<AsyncIterable<Buffer>> {
      const source = await bounded(key, (timeout) =>
        objectStore.stream(key, { ...options, signal: AbortSignal.any([signal, timeout]) }),
      );
      return pieces(key, source);
    },
  };
}
