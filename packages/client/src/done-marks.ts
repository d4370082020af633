import { constants, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { notWritable, orNotWritable } from './whole-file.js';

const MARKS_FILE = 'packhouse-pull.done';

/** Which entries of the manifest have their file in the folder: one byte each, by sequence. */
export interface DoneMarks {
  has(sequence: number): boolean;
  /** Marks an entry; to be called after its file has its final name. */
  add(sequence: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens the marks of a folder. A mark that a killed run could not make costs reading that file once more. */
export async function openDoneMarks(folder: string): Promise<DoneMarks> {
  const name = path.join(folder, MARKS_FILE);
  try {
    const file = await open(name, constants.O_RDWR | constants.O_CREAT);
    const marked = await readFile(name);
    const later = new Set<number>();
    return {
      has: (sequence) => marked[sequence] === 1 || later.has(sequence),
      async add(sequence) {
        await file.write(Buffer.of(1), 0, 1, sequence).catch(orNotWritable(name));
        if (sequence < marked.length) marked[sequence] = 1;
        else later.add(sequence);
      },
      close: () => file.close(),
    };
  } catch (error) {
    throw notWritable(name, error);
  }
}
