import { type BlockRange, type Kind, unionRanges } from '@packhouse/chain';
import type { NewLakeFile } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type CodedBatch, sliceBatch } from '@packhouse/rows';
import type { Field } from '../iceberg/fields.js';
import type { LakeSource } from './ready-blocks.js';
import { createRowsQueue, rowsThrough } from './rows-queue.js';
import { toTableRows } from './table-rows.js';
import { type OpenLakeFile, openLakeFile, type WantedFile } from './write-file.js';

/** Files of a table that are to be written, ascending. */
export interface TableFiles {
  table: LakeSource & { fields: readonly Field[] };
  wanted: readonly WantedFile[];
  /** Called, and awaited, after each file. */
  onFile(file: NewLakeFile, want: WantedFile): Promise<void>;
}

/** Writes files of one table from rows of bundles as they are read. */
export interface TableWriter {
  /** Takes rows of a kind that the table needs; of blocks without a file, or that are to lack it, too. */
  add(kind: Kind, batch: CodedBatch): void;
  /** Writes what has all its kinds, which were read through these blocks, and ends files. Throws RECORD_INVALID, and as `openLakeFile`. */
  write(through: (kind: Kind) => number): Promise<void>;
}

/** Creates a writer that has files which are not finished in a folder. */
export function createTableWriter(
  parts: { objectStore: ObjectStore; folder: string; signal: AbortSignal },
  { table, wanted, onFile }: TableFiles,
): TableWriter {
  const { kind, chainId, needs } = table;
  const queues = new Map(needs.map((each) => [each, createRowsQueue()]));
  const lacks = new Map(needs.map((of) => [of, unionRanges(wanted.flatMap((want) => want.lacks[of] ?? []))]));
  let place = 0;
  let open: OpenLakeFile | null = null;
  const finish = async (want: WantedFile): Promise<void> => {
    const file = open ?? (await openLakeFile(parts, table, want));
    open = null;
    place += 1;
    await onFile(await file.finish(), want);
  };
  /** Writes rows into their files; those of earlier blocks have all their rows then. */
  const put = async (batch: CodedBatch): Promise<void> => {
    for (let from = 0; from < batch.rows; ) {
      const want = wanted[place];
      if (want === undefined) return;
      const rest = from === 0 ? batch : sliceBatch(batch, from, batch.rows);
      const before = rowsThrough(rest, want.firstBlock - 1);
      const within = rowsThrough(rest, want.lastBlock);
      if (within > before) {
        open ??= await openLakeFile(parts, table, want);
        await open.write(before === 0 && within === rest.rows ? rest : sliceBatch(rest, before, within));
      }
      if (within < rest.rows) await finish(want);
      from += within;
    }
  };
  return {
    add(of, batch) {
      for (const piece of withoutBlocks(batch, lacks.get(of) ?? [])) queues.get(of)?.add(piece);
    },
    async write(through) {
      const complete = Math.min(...needs.map(through));
      const rows: Partial<Record<Kind, CodedBatch[]>> = {};
      for (const [of, queue] of queues) rows[of] = queue.take(complete);
      for await (const batch of toTableRows(kind, chainId, rows)) await put(batch);
      for (let want = wanted[place]; want !== undefined && want.lastBlock <= complete; want = wanted[place])
        await finish(want);
    },
  };
}

/** The rows of a batch but for those of these blocks: a bundle has them, and the table is to lack them still. */
function* withoutBlocks(batch: CodedBatch, blocks: readonly BlockRange[]): Generator<CodedBatch> {
  let from = 0;
  for (const { firstBlock, lastBlock } of blocks) {
    const to = rowsThrough(batch, firstBlock - 1);
    if (to > from) yield sliceBatch(batch, from, to);
    from = Math.max(from, rowsThrough(batch, lastBlock));
  }
  if (from < batch.rows) yield from === 0 ? batch : sliceBatch(batch, from, batch.rows);
}
