import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processStart } from '@packhouse/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DATA_DIRECTORY, openDataDirectory, runningDatabaseUrl } from './data-directory.js';

let parent: string;
let directory: string;
let other: ChildProcess | undefined;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'packhouse-data-'));
  directory = path.join(parent, DATA_DIRECTORY);
});
afterEach(async () => {
  other?.kill('SIGKILL');
  other = undefined;
  await rm(parent, { recursive: true, force: true });
});

/** A running process of another program, or of a node. */
async function start(command: string, ...args: string[]): Promise<number> {
  other = spawn(command, args, { stdio: 'ignore' });
  await once(other, 'spawn');
  return other.pid as number;
}

/** Takes the folder as soon as it may, says so or why not, and keeps it until stdin ends. */
const TAKE = `
import { readSync } from 'node:fs';
import { openDataDirectory } from ${JSON.stringify(new URL('../../dist/installation/data-directory.js', import.meta.url).href)};
process.stdout.write('ready');
readSync(0, Buffer.alloc(1));
try {
  const opened = openDataDirectory(process.argv[1], process.pid);
  process.stdout.write('taken');
  process.stdin.on('end', () => opened.close()).resume();
} catch (error) {
  process.stdout.write(error.code ?? String(error));
  process.stdin.resume();
}`;

/** Processes that take the folder in the same instant, and what each of them says. */
async function takeElsewhere(count: number): Promise<{ said: string; end(): Promise<void> }[]> {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', TAKE, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const hear = (): Promise<string[]> =>
    Promise.all(
      children.map(async ({ stdout }) => ((await once(stdout.setEncoding('utf8'), 'data')) as [string])[0]),
    );
  expect(new Set(await hear())).toEqual(new Set(['ready']));
  const heard = hear();
  for (const { stdin } of children) stdin.write('.');
  const said = await heard;
  return children.map((child, n) => ({
    said: said[n] as string,
    async end() {
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  }));
}

/** Leaves the lock of a process in the folder, as one that was killed does. */
const owned = (pid: number, start = processStart(pid)): Promise<void> =>
  writeFile(path.join(directory, 'packhouse.7.pid'), `${pid} ${start}\n`);
const locks = async (): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.includes('packhouse.'));

test('a folder is made, owned, and let go', async () => {
  const opened = openDataDirectory(directory, process.pid);
  expect(opened.in('objects', 'a')).toBe(path.join(directory, 'objects', 'a'));
  expect((await stat(opened.in('logs'))).isDirectory()).toBe(true);
  expect(await readFile(opened.in('packhouse.1.pid'), 'utf8')).toMatch(new RegExp(`^${process.pid} .+\n$`));
  opened.close();
  expect(await locks()).toEqual([]);
  openDataDirectory(directory, process.pid).close();
});

describe('a folder that another process has', () => {
  test('is refused as busy with its number', async () => {
    openDataDirectory(directory, process.pid).close();
    const pid = await start('sleep', '600');
    await owned(pid);
    expect(() => openDataDirectory(directory, process.pid)).toThrow(
      expect.objectContaining({
        code: 'DATA_DIR_BUSY',
        message: `The data folder ${directory} is in use by process ${pid}.`,
      }),
    );
    expect(await locks()).toEqual(['packhouse.7.pid']);
  });

  test('is free when that process has died, and its lock is cleared away', async () => {
    openDataDirectory(directory, process.pid).close();
    await owned(await start('sleep', '600'));
    const gone = once(other as ChildProcess, 'exit');
    other?.kill('SIGKILL');
    await gone;
    const opened = openDataDirectory(directory, process.pid);
    expect(await locks()).toEqual(['packhouse.8.pid']);
    opened.close();
  });

  test('is free when its number belongs to another process by now', async () => {
    openDataDirectory(directory, process.pid).close();
    await owned(await start('sleep', '600'), 'some-other-start');
    openDataDirectory(directory, process.pid).close();
  });

  test.each(['', 'words', '-1 x', '0 x', '999999999999 x'])(
    'is free when the lock says "%s"',
    async (text) => {
      openDataDirectory(directory, process.pid).close();
      await writeFile(path.join(directory, 'packhouse.3.pid'), text);
      openDataDirectory(directory, process.pid).close();
    },
  );

  test("is one process's of the many that start in the same instant, also over the lock of a dead one", async () => {
    openDataDirectory(directory, process.pid).close();
    for (const round of [1, 2]) {
      if (round > 1) await writeFile(path.join(directory, 'packhouse.40.pid'), '999999999 x\n');
      const outcomes = await takeElsewhere(4);
      expect(outcomes.map(({ said }) => said).sort()).toEqual([
        ...Array.from({ length: 3 }, () => 'DATA_DIR_BUSY'),
        'taken',
      ]);
      for (const { end } of outcomes) await end();
    }
  });
});

describe('a folder that cannot be used', () => {
  test('of a newer version is refused with both formats, and nothing in it changes', async () => {
    openDataDirectory(directory, process.pid).close();
    await writeFile(path.join(directory, 'format'), '3\n');
    expect(() => openDataDirectory(directory, process.pid)).toThrow(
      expect.objectContaining({
        code: 'DATA_DIR_NEWER',
        message: `The data folder ${directory} has format 3, but this version supports up to 2.`,
      }),
    );
    expect(await readFile(path.join(directory, 'format'), 'utf8')).toBe('3\n');
    expect(await locks()).toEqual([]);
  });

  test('of an older version is refused with what to do', async () => {
    openDataDirectory(directory, process.pid).close();
    await writeFile(path.join(directory, 'format'), '1\n');
    expect(() => openDataDirectory(directory, process.pid)).toThrow(
      expect.objectContaining({
        code: 'DATA_DIR_OLDER',
        message: `The data folder ${directory} has format 1, but this version supports format 2.`,
        hint: 'Delete it, or give another folder with --data-dir.',
      }),
    );
    expect(await locks()).toEqual([]);
  });

  test('whose format is no number is refused, not read as the oldest', async () => {
    openDataDirectory(directory, process.pid).close();
    await writeFile(path.join(directory, 'format'), 'two\n');
    expect(() => openDataDirectory(directory, process.pid)).toThrow(
      expect.objectContaining({ code: 'DATA_DIR_UNUSABLE' }),
    );
    // Left so by a disk that was full.
    await writeFile(path.join(directory, 'format'), '');
    openDataDirectory(directory, process.pid).close();
    expect(await readFile(path.join(directory, 'format'), 'utf8')).toBe('2\n');
  });

  test('because it is a file is refused by name', async () => {
    await writeFile(directory, '');
    expect(() => openDataDirectory(directory, process.pid)).toThrow(
      expect.objectContaining({
        code: 'DATA_DIR_UNUSABLE',
        message: expect.stringContaining(`The data folder ${directory} cannot be used: `),
      }),
    );
  });

  test('because a file is in its way is refused', async () => {
    await writeFile(directory, '');
    expect(() => openDataDirectory(path.join(directory, 'inside'), process.pid)).toThrow(
      expect.objectContaining({ code: 'DATA_DIR_UNUSABLE', hint: expect.stringContaining('--data-dir') }),
    );
  });
});

test.runIf(process.platform === 'linux')(
  'a folder in a place where none can be made is refused at once (needs Linux)',
  () => {
    expect(() => openDataDirectory('/proc/packhouse/data', process.pid)).toThrow(
      expect.objectContaining({
        code: 'DATA_DIR_UNUSABLE',
        message: expect.stringContaining('The data folder /proc/packhouse/data cannot be used: '),
      }),
    );
  },
);

describe('the address of the embedded Postgres', () => {
  const url = 'postgres://postgres:secret@127.0.0.1:5433/postgres';

  test('is found by other commands in the same folder, and readable by the owner only', async () => {
    const opened = openDataDirectory(directory, process.pid);
    opened.noteDatabase(url);
    expect(runningDatabaseUrl(parent)).toBe(url);
    expect(runningDatabaseUrl('/', directory)).toBe(url);
    expect((await stat(opened.in('database-url'))).mode & 0o077).toBe(0);
    opened.noteDatabase(null);
    expect(runningDatabaseUrl(parent)).toBeUndefined();
  });

  test('is not offered once the process that noted it is gone', async () => {
    const opened = openDataDirectory(directory, process.pid);
    opened.noteDatabase(url);
    await rm(opened.in('packhouse.1.pid'));
    await owned(await start('sleep', '600'), 'some-other-start');
    expect(runningDatabaseUrl(parent)).toBeUndefined();
    expect(runningDatabaseUrl(path.join(parent, 'elsewhere'))).toBeUndefined();
  });
});
