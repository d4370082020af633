import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { filterKey, objectKey, readFilter, readTimes } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database, PublishedFile } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type CodedBatch, inflateBundle, type RowSource, readCodedRows, type Schema } from '@packhouse/rows';
import { PackhouseError } from '@packhouse/runtime';
import { sha256InPool } from './sha256-in-pool.js';

interface SourceParts {
  database: Database;
  objectStore: ObjectStore;
  network: string;
  /** Of the downloads; what is in it is removed by its owner. */
  folder: string;
  signal: AbortSignal;
}

/** A bundle whose bytes are those that were published: its text, or a file if that is long. */
type OpenSource = { text: Buffer } | { path: string };

/** Bytes of bundles that are read in memory. */
const MEMORY_BYTES = 16_777_216;

/**
 * Fetches a bundle, compares it with the index and inflates it: away from the main thread, but for the bytes of the store.
 * Throws OBJECT_MISSING, OBJECT_MISMATCH, BUNDLE_INVALID, errors of the store.
 */
async function openSource(
  { objectStore, network, folder, signal }: SourceParts,
  kind: Kind,
  { firstBlock, lastBlock, version, sha256, byteLength }: PublishedFile,
): Promise<OpenSource> {
  const key = objectKey({ network, kind, firstBlock, lastBlock, version });
  const check = (got: string): void => {
    if (got !== sha256) throw damaged(objectStore, key, { expected: sha256, got });
  };
  if (byteLength <= MEMORY_BYTES) {
    const bytes = await objectStore.read(key, { signal });
    check(await sha256InPool(bytes));
    const text = await inflateBundle(bytes);
    if (text !== null) return { text };
  }
  const file = path.join(folder, `${kind}-${firstBlock}.json.gz`);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(await objectStore.stream(key, { signal }), hashing, createWriteStream(file), { signal });
  check(hash.digest('hex'));
  return { path: file };
}

/** Removes what an open bundle has on the disk. */
async function closeSource(source: OpenSource): Promise<void> {
  if ('path' in source) await rm(source.path, { force: true });
}

/** When the blocks of a bundle are of, by its filter; null: it has no filter with times. Throws as `openSource`. */
async function readSourceTimes(
  { database, objectStore, network, signal }: SourceParts,
  kind: Kind,
  { firstBlock, lastBlock }: BlockRange,
): Promise<readonly number[] | null> {
  const [file] = await database
    .network(network)
    .bundleFilters.of(kind, { firstBlock, lastBlock: firstBlock }, 1);
  if (file === undefined || file.filter === null) return null;
  const key = filterKey(file.objectKey);
  const bytes = await objectStore.read(key, { signal });
  const got = createHash('sha256').update(bytes).digest('hex');
  if (got !== file.filter.sha256) throw damaged(objectStore, key, { expected: file.filter.sha256, got });
  return readTimes(readFilter(bytes, firstBlock).times, lastBlock - firstBlock + 1);
}

function damaged(
  { description }: ObjectStore,
  key: string,
  { expected, got }: { expected: string; got: string },
): PackhouseError {
  return new PackhouseError({
    code: 'OBJECT_MISMATCH',
    message: `Object ${key} in ${description} has sha256 ${got}, expected ${expected}.`,
    hint: 'Run `packhouse audit --repair` on its range.',
    data: { key, expected, got },
  });
}

/** Rows of a batch, or more if a block has more. */
const BATCH_ROWS = 4_096;

/** Reads the bundles of a kind one after another, and fetches the next one meanwhile. */
export interface BundleReader {
  /** All blocks up to this one were read, or are in no bundle; Infinity after the last one. */
  readonly through: number;
  /** The rows of the next bundle. Throws as `openSource`, BUNDLE_INVALID, RECORD_INVALID. */
  read(): AsyncGenerator<CodedBatch, void, undefined>;
  /** To be called when no more is read. */
  close(): Promise<void>;
}

/** Opens a reader of bundles, which are ascending. */
export function openBundleReader(
  parts: SourceParts,
  { kind, chainId, schema }: { kind: Kind; chainId: number; schema: Schema },
  bundles: readonly PublishedFile[],
): BundleReader {
  let next = 0;
  let fetched: ReturnType<typeof openSource> | null = null;
  const fetchNext = (): void => {
    const bundle = bundles[next];
    fetched = bundle === undefined ? null : openSource(parts, kind, bundle);
    // Who reads it is told.
    fetched?.catch(() => undefined);
  };
  return {
    get through() {
      const bundle = bundles[next];
      return bundle === undefined ? Number.POSITIVE_INFINITY : bundle.firstBlock - 1;
    },
    async *read() {
      parts.signal.throwIfAborted();
      if (fetched === null) fetchNext();
      const bundle = bundles[next] as PublishedFile;
      const source = await (fetched as unknown as ReturnType<typeof openSource>);
      next += 1;
      fetchNext();
      try {
        const times: RowSource['times'] = () => readSourceTimes(parts, kind, bundle);
        const { firstBlock: fileFrom } = bundle;
        yield* readCodedRows({ ...source, kind, chainId, schema, fileFrom, times, batchRows: BATCH_ROWS });
      } finally {
        await closeSource(source);
      }
    },
    async close() {
      const source = await fetched?.catch(() => null);
      if (source != null) await closeSource(source);
      fetched = null;
    },
  };
}
