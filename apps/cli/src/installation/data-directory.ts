import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { getOwner, takeFolder } from './directory-lock.js';

/** The default data folder, relative to the folder in which the command runs. */
export const DATA_DIRECTORY = '.packhouse';

/** Raised when programs of another version cannot read the data folder of this one. */
const DATA_FORMAT = 2;

/** An open data folder; one process at a time has it. */
export interface DataDirectory {
  path: string;
  /** The path of a file or folder in it. */
  in(...names: string[]): string;
  /** Stores (or, with null, removes) the database URL for other commands on this folder. */
  noteDatabase(url: string | null): void;
  close(): void;
}

/**
 * Opens a data folder, which is made if it is absent.
 *
 * Throws DATA_DIR_NEWER, DATA_DIR_OLDER, DATA_DIR_BUSY (another process has it), DATA_DIR_UNUSABLE, DISK_FULL.
 */
export function openDataDirectory(directory: string, pid: number): DataDirectory {
  const inside = (...names: string[]): string => path.join(directory, ...names);
  for (const name of ['logs', 'run']) attempt(directory, () => makeFolders(inside(name)));
  checkFormat(directory, inside('format'));
  const lock = attempt(directory, () => takeFolder(directory, pid));
  const databaseFile = inside('database-url');
  // A killed run leaves its own.
  rmSync(databaseFile, { force: true });
  return {
    path: directory,
    in: inside,
    noteDatabase: (url) => {
      if (url === null) rmSync(databaseFile, { force: true });
      else attempt(directory, () => writeFileSync(databaseFile, url, { mode: 0o600 }));
    },
    close: () => {
      rmSync(databaseFile, { force: true });
      lock.release();
    },
  };
}

/** The file of the signing key: SIGNING_KEY_FILE, else that of the `packhouse local` of this data folder. */
export function signingKeyFile(
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
  directory?: string,
): string {
  return path.resolve(cwd, env.SIGNING_KEY_FILE || path.join(directory ?? DATA_DIRECTORY, 'signing-key.pem'));
}

/** The database address of the `packhouse local` that runs on this folder; undefined if none does. */
export function runningDatabaseUrl(cwd: string, directory?: string): string | undefined {
  const base = path.resolve(cwd, directory ?? DATA_DIRECTORY);
  if (getOwner(base) === null) return undefined;
  return readText(path.join(base, 'database-url'))?.trim();
}

function checkFormat(directory: string, file: string): void {
  const found = readText(file)?.trim() ?? '';
  // It is absent, or empty because the disk was full.
  if (found === '') {
    attempt(directory, () => writeFileSync(file, `${DATA_FORMAT}\n`));
    return;
  }
  if (!/^\d+$/.test(found)) {
    throw new PackhouseError({
      code: 'DATA_DIR_UNUSABLE',
      message: `${directory} is not a data folder of Packhouse: its file "format" has no number.`,
      hint: 'Give another folder with --data-dir.',
    });
  }
  if (Number(found) > DATA_FORMAT) {
    throw new PackhouseError({
      code: 'DATA_DIR_NEWER',
      message: `The data folder ${directory} has format ${found}, but this version supports up to ${DATA_FORMAT}.`,
      hint: 'Update Packhouse, or give another folder with --data-dir.',
    });
  }
  if (Number(found) < DATA_FORMAT) {
    throw new PackhouseError({
      code: 'DATA_DIR_OLDER',
      message: `The data folder ${directory} has format ${found}, but this version supports format ${DATA_FORMAT}.`,
      hint: 'Delete it, or give another folder with --data-dir.',
    });
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Not `recursive`: if the system refuses to make a folder in an existing one (/proc), Node would try for ever. */
function makeFolders(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = path.dirname(at)) missing.push(at);
  for (const one of missing.reverse()) {
    try {
      mkdirSync(one, { mode: 0o755 });
    } catch (error) {
      // Another start may have made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function attempt<T>(directory: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (isPackhouseError(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC') {
      throw new PackhouseError({
        code: 'DISK_FULL',
        message: `No space left for the data folder ${directory}.`,
        hint: 'Free some space, or give another folder with --data-dir.',
        cause: error,
      });
    }
    throw new PackhouseError({
      code: 'DATA_DIR_UNUSABLE',
      message: `The data folder ${directory} cannot be used: ${message}.`,
      hint: 'Give a writable folder with --data-dir.',
      cause: error,
    });
  }
}
