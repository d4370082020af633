import { LRUCache } from 'lru-cache';

/** The bytes of a file. */
export interface Body {
  readonly bytes: Buffer;
  /** Hex. */
  readonly sha256: string;
}

/** Bytes held for a reader; `release` must be called once they are not needed any more. */
export interface PinnedBody extends Body {
  release(): void;
}

/**
 * Files in memory, shared by concurrent readers.
 *
 * The bound is strict: a body that a reader holds counts and is never dropped. If nothing can be dropped to make room,
 * nothing is loaded. So slow readers cannot make memory grow.
 */
export interface BodyCache {
  /**
   * The body under a key whose bytes never change, loaded by one call of `load` for all concurrent readers.
   * Null if `size` bytes cannot be held. Throws what `load` throws.
   */
  pin(key: string, size: number, load: () => Promise<Body>): Promise<PinnedBody | null>;
  /** The body if it is in memory, without loading it. */
  peek(key: string): Buffer | undefined;
  /** Bytes held or promised. */
  readonly bytes: number;
  /** Bytes of the longest body that is ever held. */
  readonly maxBodyBytes: number;
}

interface Entry {
  readonly size: number;
  readonly loading: Promise<Body>;
  body: Body | undefined;
  pins: number;
}

/** Creates an empty cache of `maxBytes`; a body has `maxBodyBytes` at most (default: an eighth). */
export function createBodyCache(options: { maxBytes: number; maxBodyBytes?: number }): BodyCache {
  const { maxBytes, maxBodyBytes = maxBytes / 8 } = options;
  const pinned = new Map<string, Entry>();
  let pinnedBytes = 0;
  const free = new LRUCache<string, Entry>({ maxSize: maxBytes, sizeCalculation: ({ size }) => size });

  const take = (key: string, entry: Entry): Entry => {
    free.delete(key);
    pinned.set(key, entry);
    if (entry.pins === 0) pinnedBytes += entry.size;
    entry.pins += 1;
    return entry;
  };

  const release = (key: string, entry: Entry): void => {
    entry.pins -= 1;
    if (entry.pins > 0) return;
    pinned.delete(key);
    pinnedBytes -= entry.size;
    if (entry.body !== undefined) free.set(key, entry);
  };

  const begin = (size: number, load: () => Promise<Body>): Entry | null => {
    if (size > maxBodyBytes) return null;
    while (pinnedBytes + free.calculatedSize + size > maxBytes) if (free.pop() === undefined) return null;
    return { size, loading: load(), body: undefined, pins: 0 };
  };

  return {
    async pin(key, size, load) {
      const known = pinned.get(key) ?? free.peek(key) ?? begin(size, load);
      if (known === null) return null;
      const entry = take(key, known);
      let open = true;
      const close = (): void => {
        if (open) release(key, entry);
        open = false;
      };
      try {
        entry.body ??= await entry.loading;
        const { bytes, sha256 } = entry.body;
        return { bytes, sha256, release: close };
      } catch (error) {
        close();
        throw error;
      }
    },
    peek: (key) => (pinned.get(key) ?? free.peek(key))?.body?.bytes,
    get bytes() {
      return pinnedBytes + free.calculatedSize;
    },
    maxBodyBytes,
  };
}
