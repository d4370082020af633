import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Logger, PackhouseError } from '@packhouse/runtime';
import { type Account, isReachable } from './postgres-account.js';

/** Stands in the folder that was asked for and says where the data is instead. */
const LOCATION_FILE = 'LOCATION';
/** Stands beside the data and says which folder it belongs to. */
const ORIGIN_FILE = 'ORIGIN';

/** Where Postgres keeps its files. */
export interface PostgresHome {
  /** Holds the data folder and the server's log. */
  folder: string;
  /** Where a copy of the binaries goes, if one is needed. */
  copies: string;
}

/**
 * Finds the folder for Postgres's files: the one asked for, or, where the account it runs under cannot reach
 * that one (root's own home, a folder of mode 0700), a place of root's that it can. Modes of folders that are
 * not ours are never changed.
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

/** Data of a folder of this name that was deleted since: a new folder starts anew, but nothing is thrown away. */
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

/** Where the data of `directory` is, as an earlier start recorded it. */
export async function recordedHome(directory: string): Promise<string> {
  const recorded = await readFile(path.join(directory, LOCATION_FILE), 'utf8').catch(() => null);
  return recorded?.trim() ?? directory;
}
