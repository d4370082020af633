import { appendFile, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { capLogs } from './cap-logs.js';

let folder: string;
let stop: (() => Promise<void>) | undefined;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-logs-'));
});
afterEach(async () => {
  await stop?.();
  await rm(folder, { recursive: true });
});
const WAIT = { timeout: 120_000, interval: 5 };

test('a log that has grown too large is set aside, and who has it open goes on writing to the emptied file', async () => {
  const file = path.join(folder, 'ingester.log');
  const log = await open(file, 'a');
  await log.write('x'.repeat(1_001));
  stop = capLogs([folder], { maxBytes: 1_000, everyMs: 5 });
  await expect.poll(async () => (await stat(file)).size, WAIT).toBe(0);
  await log.write('next\n');
  await log.close();
  expect(await readFile(file, 'utf8')).toBe('next\n');
  expect((await stat(`${file}.1`)).size).toBe(1_001);
});

test('however much is written, no more than two files of it stay', async () => {
  const file = path.join(folder, 'packer.log');
  await writeFile(file, '');
  stop = capLogs([folder], { maxBytes: 1_000, everyMs: 1 });
  for (let round = 0; round < 20; round++) {
    await appendFile(file, `${round} `.repeat(600));
    await expect.poll(async () => (await stat(file)).size, WAIT).toBe(0);
  }
  expect(await readFile(`${file}.1`, 'utf8')).toBe('19 '.repeat(600));
  await expect(stat(`${file}.2`)).rejects.toThrow('ENOENT');
});

test('small logs, other files and folders that are not there are left alone', async () => {
  await writeFile(path.join(folder, 'small.log'), 'x'.repeat(1_000));
  await writeFile(path.join(folder, 'data'), 'x'.repeat(5_000));
  await mkdir(path.join(folder, 'folder.log'));
  await writeFile(path.join(folder, 'big.log'), 'x'.repeat(5_000));
  stop = capLogs([path.join(folder, 'nowhere'), folder], { maxBytes: 1_000, everyMs: 5 });
  await expect.poll(async () => (await stat(path.join(folder, 'big.log'))).size, WAIT).toBe(0);
  await stop();
  expect((await stat(path.join(folder, 'small.log'))).size).toBe(1_000);
  expect((await stat(path.join(folder, 'data'))).size).toBe(5_000);
});

test('a log that cannot be set aside is emptied all the same: space is what is needed', async () => {
  const file = path.join(folder, 'gateway.log');
  await mkdir(`${file}.1`);
  await writeFile(file, 'x'.repeat(5_000));
  stop = capLogs([folder], { maxBytes: 1_000, everyMs: 5 });
  await expect.poll(async () => (await stat(file)).size, WAIT).toBe(0);
});
