import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { PackhouseError } from '../catalogue.js';

/** The text of a file, or null if there is none. */
export async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? null : orNotWritable(file)(error),
  );
}

/** Writes a file so that at any moment it is the old or the new one, whole. Throws DISK_FULL, DATA_DIR_UNUSABLE. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  try {
    const handle = await open(draft, 'w');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    throw notWritable(file, error);
  }
}

/** The error of a file that cannot be written or read: DISK_FULL or DATA_DIR_UNUSABLE. */
export function notWritable(file: string, cause: unknown): PackhouseError {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return noSpace(file, cause);
  return new PackhouseError({
    code: 'DATA_DIR_UNUSABLE',
    message: `${file} cannot be read or written: ${message}.`,
    hint: 'Give this user access to it, or give another folder.',
    cause,
  });
}

/** Rejects as `notWritable`: for the `catch` of a promise. */
export function orNotWritable(file: string): (cause: unknown) => never {
  return (cause) => {
    throw notWritable(file, cause);
  };
}

/** Makes a folder and those around it. Throws DISK_FULL, DATA_DIR_UNUSABLE. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch(orNotWritable(folder));
}

/** The error of a disk that has no space for a file. */
export function noSpace(file: string, cause: unknown): PackhouseError {
  return new PackhouseError({
    code: 'DISK_FULL',
    message: `No space is left for ${file}.`,
    hint: 'Make space, then run it again: it continues where it ended.',
    cause,
  });
}
