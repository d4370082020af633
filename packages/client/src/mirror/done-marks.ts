import type { Stats } from 'node:fs';
import { constants, open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { notWritable, orNotWritable } from '@packhouse/runtime';

/** The marks of a folder. */
export const MARKS_FILE = '_packhouse-pull.done';
const BYTES = 8;

/**
 * Which entries of the manifest have their file in the folder, checked: of each, by sequence, when the file was changed
 * last (`ctime`, which no program can set). A file that was changed since has no mark.
 */
export interface DoneMarks {
  /** Whether this entry's file was checked, and is as it was then. */
  has(sequence: number, file: Stats | undefined): boolean;
  /** Marks an entry; to be called after its file has its final name. */
  add(sequence: number, name: string): Promise<void>;
  /** Whether this entry's file was ever checked. */
  marked(sequence: number): boolean;
  close(): Promise<void>;
}

/** Opens the marks of a folder. A mark that a killed run could not make costs reading that file once more. */
export async function openDoneMarks(folder: string): Promise<DoneMarks> {
  const name = path.join(folder, MARKS_FILE);
  try {
    const file = await open(name, constants.O_RDWR | constants.O_CREAT);
    const marked = await readFile(name);
    const later = new Map<number, number>();
    const get = (sequence: number): number => {
      const at = sequence * BYTES;
      return later.get(sequence) ?? (at + BYTES <= marked.length ? marked.readDoubleLE(at) : 0);
    };
    return {
      has: (sequence, found) => found !== undefined && get(sequence) === found.ctimeMs,
      marked: (sequence) => get(sequence) !== 0,
      async add(sequence, target) {
        const { ctimeMs } = await stat(target).catch(orNotWritable(target));
        const mark = Buffer.alloc(BYTES);
        mark.writeDoubleLE(ctimeMs);
        await file.write(mark, 0, BYTES, sequence * BYTES).catch(orNotWritable(name));
        later.set(sequence, ctimeMs);
      },
      close: () => file.close(),
    };
  } catch (error) {
    throw notWritable(name, error);
  }
}
