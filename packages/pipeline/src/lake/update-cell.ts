import { type BlockRange, intersectRanges, type Kind, type TableName, unionRanges } from '@packhouse/chain';
import type { Database, Fence, LakeFile, LakeHeads, NewLakeFile, PublishedFile } from '@packhouse/database';
import type { Field } from '@packhouse/lake';
import type { ObjectStore } from '@packhouse/object-store';
import type { Context } from '@packhouse/runtime';
import { type SignerSource, withSigner } from '../publish/sign.js';
import { type Grid, layOut } from './layout.js';
import { toWanted, type WantedFile, writeLakeFile } from './write-file.js';

/** What a table is made of. */
export interface LakeSource {
  network: string;
  chainId: number;
  kind: TableName;
  /** The kinds whose bundles a block needs for its rows; files are as large as the first one's bundles allow. */
  needs: readonly Kind[];
}

interface CellParts {
  database: Database;
  objectStore: ObjectStore;
  context: Context;
  /** Of the log that names every file. */
  signers?: SignerSource | undefined;
  grid: Grid;
}

/** How a cell is written. */
interface CellHow {
  signal: AbortSignal;
  fence: Fence | undefined;
  /** Called, and awaited, after a file that took so long, in milliseconds. */
  rest?: ((workedMs: number) => Promise<void>) | undefined;
}

/**
 * Writes the files of a cell that are to be there and are not, and takes out those that are not to be there any more. Throws
 * as `writeLakeFile`, LEASE_LOST.
 */
export async function updateCell(
  parts: CellParts,
  table: LakeSource & { fields: Field[]; heads: LakeHeads },
  cell: BlockRange,
  { signal, fence, rest }: CellHow,
): Promise<void> {
  const { network, kind, needs, fields, heads } = table;
  const { bundles, lake } = parts.database.network(network);
  const published: Partial<Record<Kind, PublishedFile[]>> = {};
  let runs: BlockRange[] = [cell];
  for (const each of needs) {
    const files = await bundles.files(each, cell, cell.lastBlock - cell.firstBlock + 1);
    published[each] = files;
    runs = intersectRanges(runs, unionRanges(files));
  }
  const ranges = layOut(runs, published[needs[0] as Kind] ?? [], parts.grid);
  const wanted = ranges.map((range) => toWanted(kind, range, published));
  const present = await lake.newest(kind, cell);
  const missing = wanted.filter((want) => !present.some((file) => isSame(file, want)));
  let obsolete = present.filter((file) => !wanted.some((want) => isSame(file, want)));
  let add: NewLakeFile[] = [];
  const commit = async (leaving: readonly LakeFile[]): Promise<void> => {
    const remove = leaving.map(({ firstBlock }) => firstBlock);
    if (remove.length + add.length > 0) {
      await withSigner(parts.signers, (signer) =>
        lake.commit(kind, { fields, heads, remove, add, signer }, fence),
      );
    }
    obsolete = obsolete.filter((file) => !leaving.includes(file));
    for (const file of add) countFile(parts.context, { network, table: kind }, file);
    add = [];
  };
  for (const want of missing) {
    const startedAt = parts.context.clock.elapsed();
    add.push(await writeLakeFile(parts, table, want, signal));
    const workedMs = parts.context.clock.elapsed() - startedAt;
    const { lastBlock } = want;
    // A file leaves together with the arrival of all that replace it, so no snapshot lacks rows or has them twice.
    const isCut = obsolete.some((file) => file.firstBlock <= lastBlock && file.lastBlock > lastBlock);
    if (!isCut) await commit(obsolete.filter((file) => file.lastBlock <= lastBlock));
    await rest?.(workedMs);
  }
  await commit(obsolete);
}

function countFile(
  { metrics }: Context,
  { network, table }: { network: string; table: TableName },
  { rows, bytes }: NewLakeFile,
): void {
  metrics.count('packhouse_lake_files_total', 'Data files of the lake that were written', { network, table });
  metrics.count('packhouse_lake_rows_total', 'Rows of these files', { network, table }, rows);
  metrics.count('packhouse_lake_bytes_total', 'Bytes of these files', { network, table }, bytes);
}

function isSame(file: LakeFile, want: WantedFile): boolean {
  const { firstBlock, lastBlock, sources } = want;
  const isAsWanted =
    file.firstBlock === firstBlock && file.lastBlock === lastBlock && file.sources === sources;
  return isAsWanted && !file.rebuild;
}
