import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PackhouseError, processStart } from '@packhouse/runtime';

/** `packhouse.<n>.pid` has the number of a process and its start. The highest n is the newest. */
const LOCK = /^packhouse\.(\d+)\.pid$/;
/** An unfinished lock. */
const DRAFT = /^\.packhouse\.(\d+)\./;

interface Lock {
  file: string;
  number: number;
  text: string;
}

/**
 * Locks a folder for a process, or throws DATA_DIR_BUSY with this hint if a living process has it.
 *
 * A lock appears complete under the next number or not at all (a hard link), so of several processes that start at the
 * same moment one gets it. Locks of dead processes are not reused: no file that another process may just have made is
 * removed to get a lock. A process that finds another living one after its own gives its lock back.
 */
export function takeFolder(
  directory: string,
  pid: number,
  hint = 'Stop that one first, or give another folder with --data-dir.',
): { release(): void } {
  const own = `${pid} ${processStart(pid) ?? ''}\n`;
  const draft = path.join(directory, `.packhouse.${pid}.${randomBytes(4).toString('hex')}`);
  writeFileSync(draft, own);
  try {
    for (;;) {
      const locks = locksIn(directory);
      refuse(directory, locks, own, hint);
      const number = (locks.at(-1)?.number ?? 0) + 1;
      const file = path.join(directory, `packhouse.${number}.pid`);
      if (!place(draft, file, own)) continue;
      try {
        refuse(
          directory,
          locksIn(directory).filter((lock) => lock.number !== number),
          own,
          hint,
        );
      } catch (error) {
        rmSync(file, { force: true });
        throw error;
      }
      for (const dead of locks) rmSync(dead.file, { force: true });
      removeDrafts(directory);
      return { release: () => rmSync(file, { force: true }) };
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The number of the living process that has the folder; null if none has. */
export function getOwner(directory: string): number | null {
  let locks: Lock[];
  try {
    locks = locksIn(directory);
  } catch {
    // The folder is absent or may not be read: nobody works in it from here.
    return null;
  }
  const held = locks.filter(isHeld).at(-1);
  return held === undefined ? null : pidIn(held);
}

/** False if another process was first. */
function place(draft: string, file: string, text: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // Some file systems have no hard links; there a lock can be seen for a moment before it is written.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK') throw error;
  }
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function refuse(directory: string, locks: readonly Lock[], own: string, hint: string): void {
  const held = locks.find((lock) => lock.text !== own && isHeld(lock));
  if (held === undefined) return;
  throw new PackhouseError({
    code: 'DATA_DIR_BUSY',
    message: `The data folder ${directory} is in use by process ${pidIn(held)}.`,
    hint,
  });
}

function pidIn({ text }: Lock): number {
  return Number(text.split(' ')[0]);
}

/** Whether the process that made it still runs: its number may belong to another program by now. */
function isHeld(lock: Lock): boolean {
  const [pid, start] = lock.text.trim().split(' ');
  return start !== undefined && processStart(Number(pid)) === start;
}

function locksIn(directory: string): Lock[] {
  return readdirSync(directory)
    .flatMap((name) => {
      const number = Number(LOCK.exec(name)?.[1]);
      if (!Number.isSafeInteger(number)) return [];
      const file = path.join(directory, name);
      try {
        return [{ file, number, text: readFileSync(file, 'utf8') }];
      } catch {
        // Released in this moment.
        return [];
      }
    })
    .sort((a, b) => a.number - b.number);
}

/** Removes drafts of starts that were killed. */
function removeDrafts(directory: string): void {
  for (const name of readdirSync(directory)) {
    const pid = Number(DRAFT.exec(name)?.[1]);
    if (Number.isSafeInteger(pid) && processStart(pid) === null) {
      rmSync(path.join(directory, name), { force: true });
    }
  }
}
