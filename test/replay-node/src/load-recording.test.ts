import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateChain } from './generate-chain.js';
import { loadRecording } from './load-recording.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'recording-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function write(name: string, content: Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

test('blocks that were written as lines come back as they were', async () => {
  const blocks = generateChain({ length: 3, txsPerBlock: 5 });
  const path = await write(
    'good.jsonl.gz',
    gzipSync(blocks.map((block) => `${JSON.stringify(block)}\n`).join('')),
  );
  expect(await loadRecording(path)).toEqual(blocks);
});

test.each([
  ['no JSON', '{"number":1'],
  ['a block without its transactions', '{"number":1,"block":{}}'],
  ['a line without a number', '{"block":{"transactions":[]}}'],
  ['null', 'null'],
])('a line that is %s is refused by its number', async (_, line) => {
  const path = await write('bad.jsonl.gz', gzipSync(`{"number":0,"block":{"transactions":[]}}\n${line}\n`));
  await expect(loadRecording(path)).rejects.toThrow(/^Line 2 of .*bad\.jsonl\.gz is not a recorded block/);
});

test('a missing file and one that is not gzip are refused', async () => {
  await expect(loadRecording(join(directory, 'absent'))).rejects.toThrow('ENOENT');
  await expect(loadRecording(await write('plain', Buffer.from('{}\n')))).rejects.toThrow(
    'incorrect header check',
  );
});
