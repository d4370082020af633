import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { SealedEntry } from '@packhouse/manifest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckTask, checkFile, type Verdict } from './check-file.js';
import { checkFiles } from './check-files.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-check-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const hash = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
const block = (number: number): Record<string, unknown> => ({
  number: `0x${number.toString(16)}`,
  hash: hash(number),
  parentHash: hash(number - 1),
});

/** Writes a file, and returns the task to check it against an entry that is right, or wrong in `fields`. */
async function published(
  text: string,
  fields: Partial<SealedEntry> = {},
  bytes: Buffer = gzipSync(text),
): Promise<CheckTask> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const full = path.join(folder, `${sha256}.json.gz`);
  await writeFile(full, bytes);
  const entry = {
    network: 'ethereum',
    kind: 'blocks',
    from: 5,
    to: 6,
    sha256,
    bytes: bytes.length,
    rawBytes: text.length,
    version: 1,
    firstParentHash: hash(4),
    lastHash: hash(6),
    ...fields,
  } as SealedEntry;
  return { full, shown: 'file', candidates: [entry], deep: true };
}

const blocks = (...all: object[]): string => JSON.stringify(all);
const good = blocks(block(5), block(6));
const logs = { kind: 'logs' } as const;

describe('a deep check', () => {
  it.each([
    ['takes blocks that follow each other', good, {}, null],
    [
      'refuses another number',
      blocks(block(5), block(7)),
      {},
      'record 2 is not block 6 with the parent before it.',
    ],
    [
      'refuses another parent',
      blocks(block(5), { ...block(6), parentHash: '0x1' }),
      {},
      'record 2 is not block 6',
    ],
    ['refuses another first parent', good, { firstParentHash: hash(9) }, 'record 1 is not block 5'],
    [
      'refuses another last hash',
      good,
      { lastHash: hash(9) },
      `its last block has the hash ${hash(6)}, expected`,
    ],
    ['refuses a record that is no block', '[null,1]', {}, 'record 1 is not block 5'],
    ['counts records', '[[],[],[]]', logs, 'holds 3 records, expected 2 for its range.'],
    ['refuses what is no JSON', '[[],[1}]', logs, 'record 2 is not JSON.'],
    ['refuses a text that is cut off', '[[],[1', logs, 'its text ends in the middle of record 2.'],
    ['refuses what is no array', '{"a":1}', logs, 'record 1 is not JSON.'],
    ['refuses space between records', '[[] ,[]]', logs, 'holds 7 bytes of JSON, and its entry says 8.'],
    [
      'refuses another length',
      '[[],[]]',
      { ...logs, rawBytes: 9 },
      'holds 7 bytes of JSON, and its entry says 9.',
    ],
  ] as const)('%s', async (_, text, fields, fault) => {
    const verdict = await checkFile(await published(text, fields));
    if (fault === null) expect(verdict).toHaveProperty('entry');
    else expect(verdict).toEqual({ fault: expect.stringContaining(fault) });
  });

  it('refuses what cannot be inflated, a wrong CRC-32 included', async () => {
    const wrong = gzipSync(good);
    wrong.writeUInt32LE(1, wrong.length - 8);
    for (const bytes of [wrong, wrong.subarray(0, 40), Buffer.from('no gzip')]) {
      const verdict = await checkFile(await published(good, {}, bytes));
      expect(verdict).toEqual({ fault: 'file does not hold what its entry says: it cannot be inflated.' });
    }
  });
});

it('a quick check reads the length of text that the trailer announces, and nothing else inside', async () => {
  const quick = async (fields: Partial<SealedEntry>): Promise<Verdict> =>
    checkFile({ ...(await published('[[],[1}]', { ...logs, ...fields })), deep: false });
  expect(await quick({})).toHaveProperty('entry');
  expect(await quick({ rawBytes: 2 ** 32 + 8 })).toHaveProperty('entry');
  expect(await quick({ rawBytes: 9 })).toEqual({
    fault: 'file announces 8 bytes of JSON, and its entry says 9.',
  });
});

describe('files checked in threads', () => {
  const never = new AbortController().signal;
  async function getVerdicts(
    tasks: Iterable<CheckTask>,
    options: Partial<Parameters<typeof checkFiles>[1]> = {},
  ): Promise<string[]> {
    const all: string[] = [];
    for await (const { task, verdict } of checkFiles(tasks, { threads: 2, signal: never, ...options })) {
      all.push('fault' in verdict ? verdict.fault : `${task.shown} ok`);
    }
    return all;
  }

  it('come in order, a missing one and a damaged one by name', async () => {
    const task = await published(good);
    const tasks = Array.from({ length: 40 }, (_, n) => ({ ...task, shown: `${n}` }));
    tasks[7] = { ...task, shown: '7', full: path.join(folder, 'nowhere') };
    tasks[9] = { ...(await published('[]')), shown: '9' };
    const said = await getVerdicts(tasks);
    expect(said.splice(7, 3)).toEqual([
      expect.stringMatching(/^7 cannot be read: ENOENT/),
      '8 ok',
      '9 holds 0 records, expected 2 for its range.',
    ]);
    expect(said).toEqual(
      [0, 1, 2, 3, 4, 5, 6, ...Array.from({ length: 30 }, (_, n) => n + 10)].map((n) => `${n} ok`),
    );
  });

  it('are taken from the list only a few ahead', async () => {
    const task = await published(good);
    let taken = 0;
    function* endless(): Generator<CheckTask> {
      for (;;) {
        taken += 1;
        yield task;
      }
    }
    for await (const _ of checkFiles(endless(), { threads: 1, signal: never })) break;
    expect(taken).toBeLessThan(20);
  });

  it('are named if their thread ends, and others are checked by a new one', async () => {
    const program = path.join(folder, 'thread.mjs');
    await writeFile(
      program,
      `import { parentPort } from 'node:worker_threads';
       parentPort.on('message', ({ shown, candidates }) => {
         if (shown === 'exits') process.exit(3);
         if (shown === 'throws') throw new Error('out of luck');
         parentPort.postMessage({ entry: candidates[0] });
       });`,
    );
    const task = await published(good);
    const tasks = ['a', 'exits', 'b', 'throws', 'c'].map((shown) => ({ ...task, shown }));
    expect(await getVerdicts(tasks, { program: pathToFileURL(program), threads: 1 })).toEqual([
      'a ok',
      'exits could not be checked: its thread ended with 3.',
      'b ok',
      'throws could not be checked: its thread ended with 1: out of luck.',
      'c ok',
    ]);
  });

  it('end when they are told to', async () => {
    const program = path.join(folder, 'silent.mjs');
    await writeFile(
      program,
      `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => {});`,
    );
    const stop = new AbortController();
    const task = await published(good);
    const tasks = [task, task, task];
    const checking = getVerdicts(tasks, { program: pathToFileURL(program), threads: 1, signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(checking).rejects.toThrow('stopped');
  });
});
