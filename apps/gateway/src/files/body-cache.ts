/** The bytes of a file. */
export interface Body {
  readonly bytes: Buffer;
  /** Hex. */
  readonly sha256: string;
}

/** Bytes that are held for a reader; `release` must be called once they are not needed any more. */
export interface PinnedBody extends Body {
  release(): void;
}

/**
 * Files in memory, shared by all who read them at once.
 *
 * The bound is strict: a body that a reader still holds is never forgotten and counts, and where nothing can be
 * forgotten to make room, nothing is loaded. So slow readers cannot make memory grow.
 */
export interface BodyCache {
  /**
   * The body under a key whose bytes never change, loaded by one call of `load` however many ask at once.
   * Null where `size` bytes cannot be held. Throws what `load` throws.
   */
  pin(key: string, size: number, load: () => Promise<Body>): Promise<PinnedBody | null>;
  /** The body if it is here, without loading it. */
  peek(key: string): Buffer | undefined;
  /** Bytes held or promised. */
  readonly bytes: number;
  /** The longest body that is ever held. */
  readonly maxBodyBytes: number;
}

interface Entry {
  body: Body | undefined;
  loading: Promise<Body>;
  size: number;
  pins: number;
}

/** Makes an empty cache of `maxBytes`; a single body may be `maxBodyBytes` long at most (default an eighth). */
export function createBodyCache(options: { maxBytes: number; maxBodyBytes?: number }): BodyCache {
  const { maxBytes } = options;
  const maxBodyBytes = options.maxBodyBytes ?? maxBytes / 8;
  /** In the order of last use. */
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const forget = (key: string, entry: Entry): void => {
    if (entries.get(key) !== entry) return;
    entries.delete(key);
    bytes -= entry.size;
  };

  const makeRoom = (size: number): boolean => {
    for (const [key, entry] of entries) {
      if (bytes + size <= maxBytes) break;
      if (entry.pins === 0) forget(key, entry);
    }
    return bytes + size <= maxBytes;
  };

  const begin = (key: string, size: number, load: () => Promise<Body>): Entry | null => {
    if (size > maxBodyBytes || !makeRoom(size)) return null;
    const entry: Entry = { body: undefined, loading: load(), size, pins: 0 };
    entries.set(key, entry);
    bytes += size;
    entry.loading.then(
      (body) => {
        entry.body = body;
      },
      () => forget(key, entry),
    );
    return entry;
  };

  return {
    async pin(key, size, load) {
      let entry = entries.get(key) ?? null;
      if (entry === null) {
        entry = begin(key, size, load);
        if (entry === null) return null;
      } else {
        entries.delete(key);
        entries.set(key, entry);
      }
      const pinned = entry;
      pinned.pins += 1;
      let open = true;
      const release = (): void => {
        if (open) pinned.pins -= 1;
        open = false;
      };
      try {
        const { bytes: held, sha256 } = pinned.body ?? (await pinned.loading);
        return { bytes: held, sha256, release };
      } catch (error) {
        release();
        throw error;
      }
    },
    peek: (key) => entries.get(key)?.body?.bytes,
    get bytes() {
      return bytes;
    },
    maxBodyBytes,
  };
}
