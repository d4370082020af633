import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
const node = (): Promise<number> => start(process.execPath, '-e', 'setInterval(() => {}, 1000)');
const owned = (pid: number): Promise<void> => writeFile(path.join(directory, 'packhouse.pid'), `${pid}\n`);

test('a folder is made, owned, and let go', async () => {
  const opened = openDataDirectory(directory, process.pid);
  expect(opened.in('objects', 'a')).toBe(path.join(directory, 'objects', 'a'));
  expect((await stat(opened.in('logs'))).isDirectory()).toBe(true);
  expect(await readFile(opened.in('packhouse.pid'), 'utf8')).toBe(`${process.pid}\n`);
  opened.close();
  openDataDirectory(directory, process.pid).close();
});

describe('a folder that another process has', () => {
  test('is refused as busy with its number', async () => {
    openDataDirectory(directory, process.pid);
    const pid = await node();
    await owned(pid);
    expect(() => openDataDirectory(directory, process.pid)).toThrow(
      expect.objectContaining({
        code: 'DATA_DIR_BUSY',
        message: `The data folder ${directory} is in use by process ${pid}.`,
      }),
    );
    expect(await readFile(path.join(directory, 'packhouse.pid'), 'utf8')).toBe(`${pid}\n`);
  });

  test('is free when that process has died', async () => {
    openDataDirectory(directory, process.pid);
    const pid = await node();
    await owned(pid);
    const gone = once(other as ChildProcess, 'exit');
    other?.kill('SIGKILL');
    await gone;
    openDataDirectory(directory, process.pid).close();
  });

  test('is free when its number belongs to another program by now', async () => {
    openDataDirectory(directory, process.pid);
    await owned(await start('sleep', '600'));
    openDataDirectory(directory, process.pid).close();
  });

  test.each(['', 'words', '-1', '0', '999999999999'])('is free when the number is "%s"', async (text) => {
    openDataDirectory(directory, process.pid);
    await writeFile(path.join(directory, 'packhouse.pid'), text);
    openDataDirectory(directory, process.pid).close();
  });
});

describe('a folder that cannot be used', () => {
  test('of a newer version is refused with both formats, and nothing in it changes', async () => {
    openDataDirectory(directory, process.pid).close();
    await writeFile(path.join(directory, 'format'), '2\n');
    expect(() => openDataDirectory(directory, process.pid)).toThrow(
      expect.objectContaining({
        code: 'DATA_DIR_NEWER',
        message: `The data folder ${directory} has format 2, and this version reads up to 1.`,
      }),
    );
    expect(await readFile(path.join(directory, 'format'), 'utf8')).toBe('2\n');
    await expect(stat(path.join(directory, 'packhouse.pid'))).rejects.toThrow('ENOENT');
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
    expect(await readFile(path.join(directory, 'format'), 'utf8')).toBe('1\n');
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
    await owned(await start('sleep', '600'));
    expect(runningDatabaseUrl(parent)).toBeUndefined();
    expect(runningDatabaseUrl(path.join(parent, 'elsewhere'))).toBeUndefined();
  });
});
