import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { PackhouseError } from '@packhouse/runtime';

/** An account of this machine that Postgres can run under. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/**
 * The account that Postgres has to run under: null means this process's own.
 *
 * Postgres refuses to run as root, so root lends it `postgres` where that exists, otherwise `nobody`.
 * Throws CHILD_FAILED where root finds neither.
 */
export async function postgresAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  for (const name of ['postgres', 'nobody']) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
    const uid = Number(fields?.[2]);
    const gid = Number(fields?.[3]);
    if (fields !== undefined && uid > 0 && gid > 0) return { name, uid, gid };
  }
  throw new PackhouseError({
    code: 'CHILD_FAILED',
    message:
      'Postgres does not run as root, and this machine has no account "postgres" or "nobody" to lend it.',
    hint: 'Run Packhouse as an ordinary user, or set DATABASE_URL to a Postgres of your own.',
  });
}

/**
 * Whether `account` may walk into `target` and everything above it, by the mode bits alone.
 *
 * Bits and not a trial: the trial would need a process of that account.
 */
export async function isReachable(target: string, account: Account): Promise<boolean> {
  let folder = await realpath(target);
  for (;;) {
    if (!(await mayEnter(folder, account))) return false;
    const parent = path.dirname(folder);
    if (parent === folder) return true;
    folder = parent;
  }
}

async function mayEnter(target: string, account: Account): Promise<boolean> {
  const { mode, uid, gid } = await stat(target);
  // Folders need x to be entered; the files asked about here (programs, libraries) need r.
  const wanted = (mode & 0o170000) === 0o040000 ? 0o1 : 0o4;
  const bits = uid === account.uid ? mode >> 6 : gid === account.gid ? mode >> 3 : mode;
  return (bits & wanted) !== 0;
}
