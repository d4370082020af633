import type { BlockRange } from '@packhouse/chain';
import type { LakeTable, NetworkDatabase } from '@packhouse/database';
import { PARTITION_BLOCKS } from '@packhouse/lake';
import { getOrAdd } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';

/**
 * What the addresses of all files begin with. Engines read them by the protocol of S3 from this server: the bucket is the
 * first part of the path of `lakeFileRoutes`.
 */
const LAKE_FILES = 's3://iceberg/files';

/** What a reader may see of a table. */
export type TableRequest = {
  network: string;
  table: LakeTable;
  /** Of the reader's plan; null: all. */
  maxBlock: number | null;
};

/** Where the files of a table are. */
export function addressOf({ network, table }: TableRequest): string {
  return `${LAKE_FILES}/${network}/${table.kind}`;
}

/** Up to which block: `all`, or its number. */
export function limitOf({ maxBlock }: TableRequest): string {
  return maxBlock === null ? 'all' : String(maxBlock);
}

/** How much of a group a plan includes: `all` of it, or up to a block. */
export function viewOf(
  { maxBlock }: TableRequest,
  { lastBlock }: BlockRange,
): { limit: string; maxBlock: number; allowed: number | null } {
  return maxBlock === null || maxBlock >= lastBlock
    ? { limit: 'all', maxBlock: Number.MAX_SAFE_INTEGER, allowed: null }
    : { limit: String(maxBlock), maxBlock, allowed: maxBlock };
}

/** How the files of a snapshot spread over its partitions. */
export function getChunks(
  lake: NetworkDatabase['lake'],
  { table, maxBlock }: TableRequest,
  snapshot: number,
): ReturnType<NetworkDatabase['lake']['chunks']> {
  return lake.chunks({
    kind: table.kind,
    snapshot,
    maxBlock: maxBlock ?? Number.MAX_SAFE_INTEGER,
    chunkBlocks: PARTITION_BLOCKS,
  });
}

/** Bytes of manifests and lists that are kept. */
const MAX_BYTES = 33_554_432;

/** What was made of the rows of snapshots. */
export type Kept = ReturnType<typeof createKept>;

/** Keeps what is made of the rows of a snapshot, until some of them are forgotten. */
export function createKept() {
  const kept = new LRUCache<string, Buffer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ length }) => length + 200,
  });
  /** Readers ask for the parts of a file at the same time. */
  const pending = new Map<string, Promise<Buffer>>();
  const keyOf = (request: TableRequest, name: string): string =>
    `${addressOf(request)} ${request.table.uuid} ${request.table.oldestSnapshot} ${name}`;
  const once = async (request: TableRequest, name: string, make: () => Promise<Buffer>): Promise<Buffer> => {
    const full = keyOf(request, name);
    const keep = async (): Promise<Buffer> => {
      const made = await make();
      kept.set(full, made);
      return made;
    };
    return kept.get(full) ?? getOrAdd(pending, full, () => keep().finally(() => pending.delete(full)));
  };
  return { keyOf, once };
}
