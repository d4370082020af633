import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { filterKey, objectKey, readBundle, readFilter, readTimes } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database, PublishedFile } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { PackhouseError } from '@packhouse/runtime';

export interface SourceParts {
  database: Database;
  objectStore: ObjectStore;
  network: string;
  /** Of the downloads; what is in it is removed by its owner. */
  folder: string;
  signal: AbortSignal;
}

/** A bundle on the disk whose bytes are those that were published. */
interface OpenSource {
  path: string;
  close(): Promise<void>;
}

/** Downloads a bundle and compares it with the index. Throws OBJECT_MISSING, OBJECT_MISMATCH, errors of the store. */
export async function openSource(
  { objectStore, network, folder, signal }: SourceParts,
  kind: Kind,
  { firstBlock, lastBlock, version, sha256 }: PublishedFile,
): Promise<OpenSource> {
  const key = objectKey({ network, kind, firstBlock, lastBlock, version });
  const file = path.join(folder, `${kind}-${firstBlock}.json.gz`);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(await objectStore.stream(key, { signal }), hashing, createWriteStream(file), { signal });
  const got = hash.digest('hex');
  if (got !== sha256) throw damaged(objectStore, key, { expected: sha256, got });
  return { path: file, close: () => rm(file, { force: true }) };
}

/** When the blocks of a bundle are of, by its filter; null: it has no filter with times. Throws as `openSource`. */
export async function readSourceTimes(
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

/** The texts of the receipts of blocks, by their bundles; asked in ascending order. One bundle is in memory. Throws as `openSource`. */
export function openSourceReceipts(parts: SourceParts, files: readonly PublishedFile[]) {
  let open: { file: PublishedFile; records: readonly Buffer[] } | null = null;
  let next = 0;
  return async (block: number): Promise<Buffer | null> => {
    while (open === null || open.file.lastBlock < block) {
      const file = files[next++];
      if (file === undefined) return null;
      if (file.lastBlock < block) continue;
      const source = await openSource(parts, 'receipts', file);
      open = { file, records: (await readBundle(await readFile(source.path))).records };
      await source.close();
    }
    return open.records[block - open.file.firstBlock] ?? null;
  };
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
