import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type BlockRange, subtractRanges, unionRanges } from '@packhouse/chain';
import type { RowBatch } from '../rows/schema.js';
import { makeFolder, orNotWritable, readIfThere, writeWhole } from '../whole-file.js';
import { checkState, mismatch, newState, type Sink, type SinkOptions } from './sink.js';

const STATE_FILE = 'packhouse-rows.json';

/** A file of rows that is being written. */
interface RowFile {
  write(batch: RowBatch): Promise<void>;
  /** Ends the file; it is on the disk when this returns. */
  finish(): Promise<void>;
  /** Closes it unfinished. */
  abort(): Promise<void>;
}

/** How files of a folder are made. */
export interface RowFileFormat {
  extension: string;
  /** Rows of a whole file. */
  rows: number;
  create(file: string): Promise<RowFile>;
}

/**
 * A folder of files `<kind>-<from>-<to>.<extension>`, each with all rows of its blocks. With `partition` they are in
 * `network=<network>/kind=<kind>/from=<first block>/`, and none has blocks of two partitions.
 *
 * A file is written to `.part`, renamed, then named in `packhouse-rows.json`; a file with a name that is not named
 * there is from a run that was killed in between, and removed. Without any row there is one file that has none, since
 * readers of `*.parquet` need one for the columns. Throws TARGET_MISMATCH, DISK_FULL, DATA_DIR_UNUSABLE.
 */
export async function openFolderSink(
  folder: string,
  format: RowFileFormat,
  { schema, origin, network, partition }: SinkOptions & { partition?: number | undefined },
): Promise<Sink> {
  const stateFile = path.join(folder, STATE_FILE);
  await makeFolder(folder);
  const text = await readIfThere(stateFile);
  const state = { ...(text === null ? newState(origin) : checkState(folder, text, origin)) };
  const form = { extension: format.extension, partition: partition ?? null };
  if (text !== null) checkForm(folder, state as Partial<typeof form>, form);
  const names = await rowFilesIn(folder, schema.kind, format.extension);
  const save = (): Promise<void> => writeWhole(stateFile, `${JSON.stringify({ ...state, ...form })}\n`);
  if (text === null) {
    const [first] = names;
    if (first !== undefined) throw mismatch(folder, `has ${first.name} and no ${STATE_FILE} beside it`);
    await save();
  }
  // Of runs that were killed: unfinished files, and those that no state was written after.
  for (const { name, part, blocks } of names) {
    if (part || subtractRanges([blocks], state.done).length > 0) await rm(path.join(folder, name));
  }

  const getFolder = ({ firstBlock }: BlockRange): string => {
    if (partition === undefined) return folder;
    const first = firstBlock - (firstBlock % partition);
    return path.join(folder, `network=${network}`, `kind=${schema.kind}`, `from=${first}`);
  };
  // One file at a time: what is not committed has no name yet.
  const draft = path.join(folder, `${schema.kind}-0-0.${format.extension}.part`);
  let file: RowFile | null = null;
  let rows = 0;
  return {
    state,
    commitRows: format.rows,
    async write(batch) {
      file ??= await format.create(draft);
      rows += batch.rows;
      await file.write(batch);
    },
    async commit(blocks) {
      if (state.done.length === 0) file ??= await format.create(draft);
      if (file !== null) {
        await file.finish();
        file = null;
        const target = getFolder(blocks);
        await makeFolder(target);
        const name = path.join(
          target,
          `${schema.kind}-${blocks.firstBlock}-${blocks.lastBlock}.${format.extension}`,
        );
        await rename(draft, name).catch(orNotWritable(name));
      }
      state.done = unionRanges([...state.done, blocks]);
      state.rows += rows;
      rows = 0;
      await save();
    },
    async close() {
      await file?.abort();
      await rm(draft, { force: true });
    },
  };
}

/** Throws TARGET_MISMATCH if the files of a folder have another format or other partitions. */
function checkForm(
  folder: string,
  { extension, partition = null }: { extension?: string; partition?: number | null },
  wanted: { extension: string; partition: number | null },
): void {
  if (extension !== undefined && extension !== wanted.extension) {
    throw mismatch(folder, `has rows as ${extension}, and ${wanted.extension} was asked for`);
  }
  if (partition !== wanted.partition) {
    throw mismatch(
      folder,
      `has partitions of ${partition ?? 'no'} blocks, and ${wanted.partition ?? 'no'} was asked for`,
    );
  }
}

/** The files of rows in a folder, whole and unfinished, by their names. */
async function rowFilesIn(
  folder: string,
  kind: string,
  extension: string,
): Promise<{ name: string; part: boolean; blocks: BlockRange }[]> {
  const form = new RegExp(`^${kind}-(\\d+)-(\\d+)\\.${extension}(\\.part)?$`);
  const names = await readdir(folder, { recursive: true });
  return names.flatMap((name) => {
    const [, start, end, part] = form.exec(path.basename(name)) ?? [];
    if (start === undefined) return [];
    return [
      { name, part: part !== undefined, blocks: { firstBlock: Number(start), lastBlock: Number(end) } },
    ];
  });
}
