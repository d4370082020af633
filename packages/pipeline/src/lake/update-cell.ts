import type { BlockRange, TableName } from '@packhouse/chain';
import type { Database, Fence, LakeFile, LakeHeads, NewLakeFile } from '@packhouse/database';
import type { Field } from '@packhouse/lake';
import type { ObjectStore } from '@packhouse/object-store';
import type { Context } from '@packhouse/runtime';
import { type SignerSource, withSigner } from '../publish/sign.js';
import type { Grid } from './layout.js';
import { type LakeSource, planFiles } from './plan-files.js';
import { type WantedFile, writeLakeFile } from './write-file.js';

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
 * Writes the files around a cell that are to be there and are not, and takes out those that are not to be there any more.
 * Returns the blocks that it looked at. Throws as `writeLakeFile`, LEASE_LOST.
 */
export async function updateCell(
  parts: CellParts,
  table: LakeSource & { fields: Field[]; heads: LakeHeads },
  cell: BlockRange,
  { signal, fence, rest }: CellHow,
): Promise<BlockRange> {
  const { network, kind, fields, heads } = table;
  const { lake } = parts.database.network(network);
  const { region, wanted, present } = await planFiles(parts, table, cell);
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
  return region;
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
