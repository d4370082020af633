import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from '@packhouse/runtime';
import type { PostgresBinaries } from './binaries.js';
import { newerData, postgresFailure } from './failure.js';
import type { Account } from './home.js';

/** In the data folder, readable only by Postgres's account and root. */
export const PASSWORD_FILE = 'packhouse-password';

const MAJOR_VERSION = '18';
const UNFINISHED = /^\.(?:data|password)\.(\d+)\./;
/** Nothing of our environment: messages are in English whatever the locale is. */
export const CHILD_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Returns the data folder, made if it is absent. It gets its name when it is complete, so an initdb that was killed
 * leaves nothing that looks like data. Throws DATA_DIR_NEWER (made by another major version), DISK_FULL, CHILD_FAILED.
 */
export async function initialise(options: {
  home: string;
  binaries: PostgresBinaries;
  account: Account | null;
}): Promise<string> {
  const { home, binaries, account } = options;
  const folder = path.join(home, 'data');
  const version = await readFile(path.join(folder, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version !== null) {
    if (version.trim() !== MAJOR_VERSION) throw newerData(folder, version.trim());
    return folder;
  }
  await removeUnfinished(home);
  const id = `${process.pid}.${randomBytes(4).toString('hex')}`;
  const unfinished = path.join(home, `.data.${id}`);
  const passwordFile = path.join(home, `.password.${id}`);
  const password = randomBytes(24).toString('hex');
  try {
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (account !== null) {
      await chown(unfinished, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    await runInitdb(binaries.initdb, unfinished, passwordFile, account);
    await rename(passwordFile, path.join(unfinished, PASSWORD_FILE));
    await chmod(path.join(unfinished, PASSWORD_FILE), 0o600);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(passwordFile, { force: true });
    await rm(unfinished, { recursive: true, force: true });
    // Another start at the same moment was first; its folder is as good.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
  return folder;
}

async function runInitdb(initdb: string, folder: string, passwordFile: string, account: Account | null) {
  const options = [
    `--pgdata=${folder}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  try {
    await promisify(execFile)(initdb, options, {
      cwd: path.dirname(folder),
      env: CHILD_ENV,
      uid: account?.uid,
      gid: account?.gid,
    });
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw postgresFailure(stderr === undefined || stderr === '' ? message : stderr, folder, error);
  }
}

/** Removes folders of runs that were killed during initdb. */
async function removeUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = Number(UNFINISHED.exec(name)?.[1]);
    if (Number.isInteger(pid) && !isAlive(pid))
      await rm(path.join(home, name), { recursive: true, force: true });
  }
}
