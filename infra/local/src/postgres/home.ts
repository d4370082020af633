import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Logger, PackhouseError } from '@packhouse/runtime';

/** A file in the requested folder that names the folder of the data. */
const LOCATION_FILE = 'LOCATION';
/** Beside the data: which folder it belongs to. */
const ORIGIN_FILE = 'ORIGIN';

/** An account of this machine that Postgres can run under. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/** Where Postgres keeps its files. */
interface PostgresHome {
  /** Holds the data folder and the server's log. */
  folder: string;
  /** Where a copy of the binaries goes, if one is needed. */
  copies: string;
}

/**
 * Finds the folder for Postgres's files: the one asked for, or, if the account that Postgres runs under cannot reach it
 * (root's own home, a folder of mode 0700), a folder of root's that it can reach. Modes of other folders are not
 * changed.
 */
export async function postgresHome(options: {
  directory: string;
  account: Account | null;
  logger?: Logger | undefined;
}): Promise<PostgresHome> {
  const { account, logger } = options;
  await mkdir(options.directory, { recursive: true });
  const directory = await realpath(options.directory);
  if (account === null) return { folder: directory, copies: directory };
  if (await isReachable(directory, account)) return { folder: directory, copies: await sharedPlace(account) };

  const shared = await sharedPlace(account);
  const recorded = await readFile(path.join(directory, LOCATION_FILE), 'utf8').catch(() => null);
  const folder =
    recorded?.trim() ?? path.join(shared, createHash('sha256').update(directory).digest('hex').slice(0, 12));
  if (recorded === null) {
    await setAside(folder, logger);
    await writeFile(path.join(directory, LOCATION_FILE), `${folder}\n`);
  }
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  await writeFile(path.join(folder, ORIGIN_FILE), `${directory}\n`);
  logger?.info(
    { directory, folder },
    `account "${account.name}" cannot reach ${directory}, so Postgres keeps its data in ${folder}`,
  );
  return { folder, copies: shared };
}

/** Where the data of `directory` is, as an earlier start recorded it. */
export async function recordedHome(directory: string): Promise<string> {
  const recorded = await readFile(path.join(directory, LOCATION_FILE), 'utf8').catch(() => null);
  return recorded?.trim() ?? directory;
}

/** Deletes a stopped Postgres's folder, and its data if that is somewhere else. */
export async function removePostgres(directory: string): Promise<void> {
  await rm(await recordedHome(directory), { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true });
}

/**
 * The account that Postgres must run under; null: this process's own. Postgres refuses to run as root, so root runs it
 * as `postgres` if there is such an account, else as `nobody`. Throws CHILD_FAILED if there is neither.
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
      'Postgres does not run as root, and this machine has no account "postgres" or "nobody" to run it as.',
    hint: 'Run Packhouse as an ordinary user, or set DATABASE_URL to a Postgres of your own.',
  });
}

/** Whether `account` may enter `target` and every folder above it, by mode bits: to try would take a process of it. */
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
  // Folders need x, files (programs, libraries) need r.
  const wanted = (mode & 0o170000) === 0o040000 ? 0o1 : 0o4;
  const bits = uid === account.uid ? mode >> 6 : gid === account.gid ? mode >> 3 : mode;
  return (bits & wanted) !== 0;
}

/** Renames the data of an earlier folder of the same path: the new folder starts empty, and nothing is deleted. */
async function setAside(folder: string, logger: Logger | undefined): Promise<void> {
  const aside = `${folder}.${Date.now().toString(36)}`;
  try {
    await rename(folder, aside);
    logger?.warn({ folder: aside }, `data of an earlier folder of the same name was set aside in ${aside}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** A folder of root's that `account` can reach and nobody else can write to. */
async function sharedPlace(account: Account): Promise<string> {
  for (const candidate of ['/var/lib/packhouse', path.join(os.tmpdir(), 'packhouse-root')]) {
    try {
      await mkdir(candidate, { recursive: true, mode: 0o755 });
      const { uid, mode } = await lstat(candidate);
      const ours = uid === 0 && (mode & 0o170000) === 0o040000 && (mode & 0o022) === 0;
      if (ours && (await isReachable(candidate, account))) return candidate;
    } catch {
      // The next candidate may do.
    }
  }
  throw new PackhouseError({
    code: 'DATA_DIR_UNUSABLE',
    message: `Neither /var/lib/packhouse nor ${os.tmpdir()} can hold Postgres's data: account "${account.name}", under which root runs Postgres, cannot reach them.`,
    hint: 'Run Packhouse as an ordinary user, or choose a data folder that every account can enter.',
  });
}
