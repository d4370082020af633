import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { processStart } from '@packhouse/local';
import { PackhouseError } from '@packhouse/runtime';

/** `packhouse.<n>.pid` holds the number of a process and when it started. The highest one is the newest. */
const LOCK = /^packhouse\.(\d+)\.pid$/;
/** A lock that is being written. */
const DRAFT = /^\.packhouse\.(\d+)\./;

interface Lock {
  file: string;
  number: number;
  text: string;
}

/**
 * Takes a folder for a process, or throws DATA_DIR_BUSY where a living one has it.
 *
 * A lock appears whole under the next number or not at all (a hard link), so of several that start in the same
 * instant one gets it. Locks of the dead are stepped over, never taken over: nothing that somebody might just have
 * made is removed to get one's own. Who finds another living one behind its own steps back.
 */
export function takeFolder(directory: string, pid: number): { release(): void } {
  const own = `${pid} ${processStart(pid) ?? ''}\n`;
  const draft = path.join(directory, `.packhouse.${pid}.${randomBytes(4).toString('hex')}`);
  writeFileSync(draft, own);
  try {
    for (;;) {
      const locks = locksIn(directory);
      refuse(directory, locks, own);
      const number = (locks.at(-1)?.number ?? 0) + 1;
      const file = path.join(directory, `packhouse.${number}.pid`);
      if (!place(draft, file, own)) continue;
      try {
        refuse(
          directory,
          locksIn(directory).filter((lock) => lock.number !== number),
          own,
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

/** The number of the living process that has the folder; null where none has. */
export function ownerOf(directory: string): number | null {
  let locks: Lock[];
  try {
    locks = locksIn(directory);
  } catch {
    // No folder, or none that may be read: not one that is worked in from here.
    return null;
  }
  const held = locks.filter(isHeld).at(-1);
  return held === undefined ? null : pidIn(held);
}

/** False where somebody else was first. */
function place(draft: string, file: string, text: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // Some file systems have no hard links; then it may be seen for a moment before it is written.
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

function refuse(directory: string, locks: readonly Lock[], own: string): void {
  const held = locks.find((lock) => lock.text !== own && isHeld(lock));
  if (held === undefined) return;
  throw new PackhouseError({
    code: 'DATA_DIR_BUSY',
    message: `The data folder ${directory} is in use by process ${pidIn(held)}.`,
    hint: 'Stop that one first, or give another folder with --data-dir.',
  });
}

function pidIn({ text }: Lock): number {
  return Number(text.split(' ')[0]);
}

/** Whether the very process that made it still runs: its number may be another program's by now. */
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
        // Let go just now.
        return [];
      }
    })
    .sort((a, b) => a.number - b.number);
}

/** What starts that were killed in the middle left behind. */
function removeDrafts(directory: string): void {
  for (const name of readdirSync(directory)) {
    const pid = Number(DRAFT.exec(name)?.[1]);
    if (Number.isSafeInteger(pid) && processStart(pid) === null) {
      rmSync(path.join(directory, name), { force: true });
    }
  }
}
