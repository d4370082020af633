import type { BlockRange } from '@packhouse/chain';
import type { LakeTable, NetworkDatabase } from '@packhouse/database';
import { PARTITION_BLOCKS } from '@packhouse/lake';

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
