import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type BlockRange, subtractRanges, unionRanges } from '@packhouse/chain';
import type { CodedBatch, Schema } from '@packhouse/rows';
import { makeFolder, orNotWritable, PackhouseError, readIfThere, writeWhole } from '@packhouse/runtime';
import { checkState, mismatch, newState, type Sink, type SinkOptions, type SinkState } from './sink.js';

const STATE_FILE = '_packhouse-rows.json';

/** A file of rows that is being written. */
interface RowFile {
  write(batch: CodedBatch): Promise<void>;
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

/** What the folder remembers beside its rows. */
interface FolderState extends SinkState {
  extension: string;
  /** Blocks of a partition. */
  partition: number | null;
  /** The files that it wrote: no other is ever changed or removed. */
  files: WrittenFile[];
  /** The blocks of a file that is being named: it is of a killed run if `files` does not have it. */
  naming: BlockRange | null;
}

interface WrittenFile extends BlockRange {
  rows: number;
  bytes: number;
}

/**
 * A folder of files `<kind>-<from>-<to>.<extension>`, or with the names of another program, each with all rows of its blocks. With `partition` they are in
 * `network=<network>/kind=<kind>/from=<first block>/`, and none has blocks of two partitions.
 *
 * A file is written as a draft, announced in `_packhouse-rows.json`, renamed, then recorded there; draft and record are
 * in `stateFolder(folder)`. A recorded file that is gone is made again. Without any row there is one file that has none, since readers of
 * `*.parquet` need one for the columns. Throws TARGET_MISMATCH, DISK_FULL, DATA_DIR_UNUSABLE.
 */
export async function openFolderSink(
  folder: string,
  format: RowFileFormat,
  { schema, origin, network, partition }: SinkOptions & { partition?: number | undefined },
): Promise<Sink> {
  const beside = stateFolder(folder);
  const stateFile = path.join(beside, STATE_FILE);
  await makeFolder(beside);
  await makeFolder(folder);
  const text = await readIfThere(stateFile);
  const form = { extension: format.extension, partition: partition ?? null };
  const state: FolderState = {
    files: [],
    naming: null,
    ...(text === null ? newState(origin) : checkState(folder, text, origin)),
    ...(text === null ? form : {}),
  } as FolderState;
  checkForm(folder, state, form);

  const getFolder = ({ firstBlock }: BlockRange): string => {
    if (partition === undefined) return folder;
    const first = firstBlock - (firstBlock % partition);
    return path.join(folder, `network=${network}`, `kind=${schema.kind}`, `from=${first}`);
  };
  const names = fileNames(schema, network, format.extension);
  const getFile = (blocks: BlockRange): string => path.join(getFolder(blocks), names.of(blocks));
  const save = (): Promise<void> => writeWhole(stateFile, `${JSON.stringify(state)}\n`);
  // One file at a time: what is not committed has no name yet.
  const draft = path.join(beside, `_packhouse-rows.${format.extension}.part`);

  if (text === null) await refuseOthers(folder, stateFile, names.form);
  else await forgetLost(state, getFile);
  await rm(draft, { force: true });
  await save();

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
      if (state.files.length === 0) file ??= await format.create(draft);
      if (file !== null) {
        await file.finish();
        file = null;
        const name = getFile(blocks);
        await makeFolder(getFolder(blocks));
        if ((await sizeOf(name)) !== null) {
          throw mismatch(folder, `has ${path.relative(folder, name)}, which is not of this pull`);
        }
        state.naming = { firstBlock: blocks.firstBlock, lastBlock: blocks.lastBlock };
        await save();
        await rename(draft, name).catch(orNotWritable(name));
        state.files.push({ ...state.naming, rows, bytes: (await sizeOf(name)) ?? 0 });
      }
      state.naming = null;
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

/**
 * Where what a pull keeps beside its rows is: `_<name>.packhouse` beside the folder `<name>`, because Polars reads every
 * file of a folder. It is `_packhouse` in the folder if that is a file system of its own, or nothing can be written
 * beside it.
 */
export function stateFolder(folder: string): string {
  const full = path.resolve(folder);
  const parent = path.dirname(full);
  const within = path.join(full, '_packhouse');
  if (existsSync(within) || parent === full) return within;
  try {
    const own = statSync(full, { throwIfNoEntry: false });
    const around = statSync(parent, { throwIfNoEntry: false });
    if (around !== undefined) accessSync(parent, constants.W_OK);
    if (own !== undefined && own.dev !== around?.dev) return within;
  } catch {
    return within;
  }
  return path.join(parent, `_${path.basename(full)}.packhouse`);
}

/** How files of rows are named. */
interface FileNames {
  of(blocks: BlockRange): string;
  /** The form of all such names. */
  form: RegExp;
}

/** Our names, or those of the program whose columns the rows have; their blocks have so many digits that files sort by them. */
function fileNames({ kind, peer }: Schema, network: string, extension: string): FileNames {
  const [before, between, digits] = getParts(kind, peer, network);
  const start = before.replace(/[^a-z0-9_-]/gi, '\\$&');
  const block = (number: number): string => String(number).padStart(digits, '0');
  return {
    of: ({ firstBlock, lastBlock }) =>
      `${before}${block(firstBlock)}${between}${block(lastBlock)}.${extension}`,
    form: new RegExp(`^${start}\\d+${between}\\d+\\.${extension}$`),
  };
}

function getParts(kind: string, peer: Schema['peer'], network: string): [string, string, number] {
  if (peer === 'cryo') return [`${network}__${kind}__`, '_to_', 8];
  return peer === undefined ? [`${kind}-`, '-', 10] : [`${kind}_`, '_', 8];
}

/** Throws TARGET_MISMATCH if the files of a folder have another format or other partitions. */
function checkForm(
  folder: string,
  { extension, partition }: FolderState,
  wanted: { extension: string; partition: number | null },
): void {
  if (extension !== wanted.extension) {
    throw mismatch(folder, `has rows as ${extension}; this pull writes ${wanted.extension}`);
  }
  if (partition !== wanted.partition) {
    throw mismatch(
      folder,
      `has partitions of ${partition ?? 'no'} blocks; this pull makes them of ${wanted.partition ?? 'no'}`,
    );
  }
}

/** Throws TARGET_MISMATCH if a folder without a state has files of rows: which of them are whole is not known. */
async function refuseOthers(folder: string, stateFile: string, form: RegExp): Promise<void> {
  const found = (await readdir(folder)).find((name) => form.test(name));
  if (found !== undefined) throw mismatch(folder, `has ${found}, and there is no ${stateFile}`);
}

/**
 * Removes the file that a killed run named and did not record, and forgets the blocks of files that are gone. Throws
 * TARGET_MISMATCH if one was changed.
 */
async function forgetLost(state: FolderState, getFile: (blocks: BlockRange) => string): Promise<void> {
  if (state.naming !== null) await rm(getFile(state.naming), { force: true });
  state.naming = null;
  const kept: WrittenFile[] = [];
  for (const file of state.files) {
    const name = getFile(file);
    const bytes = await sizeOf(name);
    if (bytes === null) {
      state.done = subtractRanges(state.done, [file]);
      state.rows -= file.rows;
      state.replaced = subtractRanges(state.replaced, [file]);
    } else if (bytes === file.bytes) kept.push(file);
    else {
      throw new PackhouseError({
        code: 'TARGET_MISMATCH',
        message: `${name} was changed: it has ${bytes} bytes, and was written with ${file.bytes}.`,
        hint: 'Move it away: the next pull makes it again.',
      });
    }
  }
  state.files = kept;
}

async function sizeOf(file: string): Promise<number | null> {
  return stat(file).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : orNotWritable(file)(error)),
  );
}
