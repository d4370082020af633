import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Downloads, makeDownloads } from './testing/downloads.js';
import { useCommands } from './testing/use-commands.js';

/** The program itself, as it is built: what is cut off at its end is not seen inside of a test. */
const MAIN = fileURLToPath(new URL('../bin/packhouse.js', import.meta.url));
const KEYS = 120;
const FILES = 3_000;

const on = useCommands();
let here: Downloads;
beforeAll(async () => {
  // 12 kB a key.
  const methods = Array.from({ length: 100 }, (_, i) => `eth_${String(i).padStart(56, 'x')}`);
  const origins = Array.from({ length: 100 }, (_, i) => `https://${'x'.repeat(46)}${i}.example`);
  for (let key = 0; key < KEYS; key += 1) {
    await on.database.keys.create({ application: `${key}`, network: null, plan: 'free', methods, origins });
  }
  here = await makeDownloads({ linesOnly: true });
  for (let file = 0; file < FILES; file += 1) await here.publish('logs', file * 10, file * 10 + 9);
  await here.writeManifests();
}, 120_000);
afterAll(() => here.close());

interface Ended {
  code: number | null;
  err: string;
}

function start(args: readonly string[], stdout: 'pipe' | number = 'pipe') {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], {
    cwd: here.directory,
    env: { DATABASE_URL: on.databaseUrl },
    stdio: ['ignore', stdout, 'pipe'],
  });
  let err = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended: Promise<Ended> = once(child, 'close').then(([code]) => ({ code: code as number | null, err }));
  return { child, ended };
}

/** How long the reader does not read at all, if the command does not end before, in milliseconds. */
const ABSENT_MS = 2_000;

/** Everything that a command says to a reader that reads nothing at first, then a piece at a time. */
async function readSlowly(args: readonly string[]): Promise<Ended & { lines: string[] }> {
  const { child, ended } = start(args);
  let text = '';
  await once(child.stdout as NodeJS.ReadableStream, 'readable');
  await Promise.race([once(child, 'exit'), setTimeout(ABSENT_MS)]);
  for await (const chunk of child.stdout?.setEncoding('utf8') ?? []) text += chunk as string;
  expect(text.endsWith('\n')).toBe(true);
  return { ...(await ended), lines: text.slice(0, -1).split('\n') };
}

const KEY_LIST = ['keys', 'list', '--json'];
const VERIFY = ['verify', 'logs', '--manifest', 'logs.jsonl', '--key', 'packhouse-manifest-keys.json'];

describe('a reader that is slower than the command', () => {
  test.each([
    ['keys list', ['keys', 'list'], KEYS + 1],
    ['keys list --json', KEY_LIST, KEYS],
    // And its summary, and what replaces damaged files.
    ['verify, all of it damaged', VERIFY, FILES + 2],
    ['verify --json', [...VERIFY, '--json'], FILES + 1],
  ])(
    'gets every line of %s',
    async (_, args, lines) => {
      const { code, err, lines: got } = await readSlowly(args);
      expect(got).toHaveLength(lines);
      expect({ code, err }).toEqual({ code: args[0] === 'verify' ? 2 : 0, err: '' });
      if (args.at(-1) === '--json')
        expect(() => got.map((line) => JSON.parse(line) as unknown)).not.toThrow();
      if (args[0] === 'verify') expect(got.slice(-2).join('\n')).toMatch(/"event":"end"|valid files/);
    },
    60_000,
  );
});

describe('a reader that goes away, as head does', () => {
  test('ends the command without a failure', async () => {
    const { child, ended } = start(KEY_LIST);
    await once(child.stdout as NodeJS.ReadableStream, 'readable');
    child.stdout?.destroy();
    expect(await ended).toEqual({ code: 0, err: '' });
  });

  test('does not hide damage that was found by then', async () => {
    const { child, ended } = start([...VERIFY, '--json']);
    await once(child.stdout as NodeJS.ReadableStream, 'readable');
    child.stdout?.destroy();
    expect(await ended).toEqual({ code: 2, err: '' });
  });
});

test('a reader that stands still does not keep a signal from ending the command, which says so', async () => {
  const { child, ended } = start(KEY_LIST);
  await once(child.stdout as NodeJS.ReadableStream, 'readable');
  child.kill('SIGTERM');
  const code = once(child, 'exit').then(([exit]) => exit as number);
  expect(await code).toBe(143);
  child.stdout?.destroy();
  await ended;
});

test.skipIf(!existsSync('/dev/full'))('output that cannot be written is a failure in one line', async () => {
  const full = openSync('/dev/full', 'w');
  const { ended } = start(['keys', 'list'], full);
  closeSync(full);
  expect(await ended).toEqual({
    code: 73,
    err: expect.stringMatching(/^packhouse: Cannot write the output: ENOSPC[^\n]*\[OUTPUT_FAILED\]\n$/),
  });
});
