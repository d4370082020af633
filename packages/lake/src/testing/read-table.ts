import zlib from 'node:zlib';
import type { TableName } from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { parquetReadObjects } from 'hyparquet';

export type TableRow = Record<string, unknown>;

const EVERYTHING = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };
/** zstd since Node 22.15. */
const zstd = (zlib as { zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array }).zstdDecompressSync;
const COMPRESSORS = { GZIP: (bytes: Uint8Array) => zlib.gunzipSync(bytes), ...(zstd && { ZSTD: zstd }) };

/** The rows of a table of the lake, in the order of its files. */
export async function readTable(
  objectStore: ObjectStore,
  lake: NetworkDatabase['lake'],
  table: TableName,
): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for (const { objectKey } of await lake.newest(table, EVERYTHING)) {
    const { buffer, byteOffset, length } = await objectStore.read(objectKey);
    const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
    rows.push(...(await parquetReadObjects({ file, compressors: COMPRESSORS, utf8: false })));
  }
  return rows;
}
