import { type BlockRange, KINDS, type TableName } from '@packhouse/chain';
import type { Database, Fence, LakeFile, LakeHeads, NewLakeFile, PublishedFile } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type SignerSource, withSigner } from '@packhouse/pipeline';
import type { Context, PackhouseError } from '@packhouse/runtime';
import type { Field } from '../iceberg/fields.js';
import type { Grid } from './layout.js';
import { planFiles } from './plan-files.js';
import type { LakeSource } from './ready-blocks.js';
import type { WantedFile } from './write-file.js';
import { writeFiles } from './write-files.js';
import type { TableFiles } from './write-table.js';

interface CellParts {
  database: Database;
  objectStore: ObjectStore;
  context: Context;
  /** Of the log that names every file. */
  signers?: SignerSource | undefined;
  grid: Grid;
}

/** A table as it was when the work on it began. */
export type TableState = LakeSource & { fields: Field[]; heads: LakeHeads };

/** How a cell is written. */
interface CellHow {
  signal: AbortSignal;
  fence: Fence | undefined;
  /** Called, and awaited, after a file that took so long, in milliseconds. */
  rest?: ((workedMs: number) => Promise<void>) | undefined;
  /** Called, and awaited, after each bundle that was read. */
  afterBundle?: (() => Promise<void>) | undefined;
  /** Told before anything is written: the blocks whose files may change. */
  onRegion?: ((region: BlockRange) => void) | undefined;
}

/** What became of a table: the blocks that were looked at, and the fault of a bundle, which ended it. */
export interface CellOutcome {
  region: BlockRange;
  fault: PackhouseError | null;
}

/**
 * Writes the files around a cell that are to be there and are not, of several tables of a network, and takes out those that
 * are not to be there any more. Each bundle is read once. Throws as `writeFiles`, LEASE_LOST.
 */
export async function updateCell(
  parts: CellParts,
  tables: readonly TableState[],
  cell: BlockRange,
  { signal, fence, rest, afterBundle, onRegion }: CellHow,
): Promise<Map<TableName, CellOutcome>> {
  const { clock } = parts.context;
  const outcomes = new Map<TableName, CellOutcome>();
  const changes: (TableChange & { table: TableState })[] = [];
  for (const table of tables) {
    const change = await planChange(parts, table, cell, fence);
    changes.push({ table, ...change });
    outcomes.set(table.kind, { region: change.region, fault: null });
  }
  const regions = changes.map(({ region }) => region);
  onRegion?.({
    firstBlock: Math.min(...regions.map(({ firstBlock }) => firstBlock)),
    lastBlock: Math.max(...regions.map(({ lastBlock }) => lastBlock)),
  });
  let startedAt = clock.elapsed();
  const all = changes.map(({ table, missing, put }): TableFiles => {
    const onFile = async (file: NewLakeFile, want: WantedFile): Promise<void> => {
      await put(file, want);
      await rest?.(clock.elapsed() - startedAt);
      startedAt = clock.elapsed();
    };
    return { table, wanted: missing, onFile };
  });
  const [first] = tables;
  for (const each of first === undefined ? [] : haveSameBundles(all) ? [all] : all.map((files) => [files])) {
    const faults = await writeFiles({ ...parts, signal, afterBundle }, first as TableState, each);
    for (const [{ table }, fault] of faults) {
      outcomes.set(table.kind, { ...(outcomes.get(table.kind) as CellOutcome), fault });
    }
  }
  for (const { table, end } of changes) if (outcomes.get(table.kind)?.fault === null) await end();
  return outcomes;
}

/** The files of a table that change. */
interface TableChange {
  region: BlockRange;
  missing: WantedFile[];
  /** Takes a file in, with others once all that replace a file are there. */
  put(file: NewLakeFile, want: WantedFile): Promise<void>;
  /** Takes out what is not to be there. */
  end(): Promise<void>;
}

async function planChange(
  parts: CellParts,
  table: TableState,
  cell: BlockRange,
  fence: Fence | undefined,
): Promise<TableChange> {
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
  return {
    region,
    missing,
    async put(written, { lastBlock }) {
      add.push(written);
      // A file leaves together with the arrival of all that replace it, so no snapshot lacks rows or has them twice.
      const isCut = obsolete.some((file) => file.firstBlock <= lastBlock && file.lastBlock > lastBlock);
      if (!isCut) await commit(obsolete.filter((file) => file.lastBlock <= lastBlock));
    },
    end: () => commit(obsolete),
  };
}

/** Whether tables were planned from the same bundles: one may have been replaced between two plans. */
function haveSameBundles(all: readonly TableFiles[]): boolean {
  return KINDS.every((kind) => {
    const bundles = all
      .flatMap(({ wanted }) => wanted.flatMap(({ files }): readonly PublishedFile[] => files[kind] ?? []))
      .sort((a, b) => a.firstBlock - b.firstBlock);
    return bundles.every((bundle, at) => {
      const before = bundles[at - 1];
      return before === undefined || before.lastBlock < bundle.firstBlock || before.sha256 === bundle.sha256;
    });
  });
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
