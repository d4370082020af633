import type { MirrorFile, MirrorPlan } from '@packhouse/client';
import { expect, it } from 'vitest';
import { jsonLines, memoryIo } from '../../testing/run.js';
import { createPullProgress } from './progress.js';

const plan = { files: 3, bytes: 3_000_000, presentFiles: 1, presentBytes: 1_000_000 } as MirrorPlan;
const entry = { bytes: 1_000_000, sha256: 'ab', version: 1 };
const downloaded = {
  range: { firstBlock: 0, lastBlock: 9 },
  path: 'logs/0-9.json.gz',
  entry,
  state: 'downloaded',
};
const faulty = { ...downloaded, state: 'faulty', fault: 'The gateway sends something else.' };
const WAIT = { reason: 'The plan includes 5 units a second.', seconds: 7, rateLimited: true };

it('says waits and faults in lines of their own', async () => {
  const { io, said } = memoryIo();
  const progress = createPullProgress(io, plan, false);
  progress.wait(WAIT);
  await progress.file(downloaded as unknown as MirrorFile);
  await progress.file(faulty as unknown as MirrorFile);
  expect(progress.end()).toEqual({ downloaded: 1, faults: 1 });
  expect(said).toEqual({
    out: '',
    err: 'The plan includes 5 units a second; retrying in 7 s.\nThe gateway sends something else.\n',
  });
});

it('says what the gateway asks for once in ten seconds, and once that it is away and back', () => {
  const { io, said } = memoryIo();
  const { wait, back } = createPullProgress(io, plan, false);
  for (let i = 0; i < 8; i += 1) wait(WAIT);
  for (let run = 0; run < 2; run += 1) {
    for (let i = 0; i < 3; i += 1) wait({ reason: 'It was reset.', seconds: 1, rateLimited: false });
    for (let i = 0; i < 3; i += 1) back();
  }
  const away = 'It was reset; retrying.\nThe gateway answers again.\n';
  expect(said.err).toBe(`The plan includes 5 units a second; retrying in 7 s.\n${away}${away}`);
});

it('removes its line from a terminal at the end', () => {
  const { io, said } = memoryIo();
  Object.assign(io.stderr, { isTTY: true });
  createPullProgress(io, plan, false).end();
  expect(said.err).toBe('\r\x1b[K');
});

it('prints an object for each file, wait and fault with --json', async () => {
  const { io, said } = memoryIo();
  const progress = createPullProgress(io, plan, true);
  progress.wait(WAIT);
  await progress.file(downloaded as unknown as MirrorFile);
  await progress.file({ ...downloaded, state: 'present' } as unknown as MirrorFile);
  await progress.file(faulty as unknown as MirrorFile);
  expect(said.err).toBe('');
  expect(jsonLines({ code: 0, ...said })).toEqual([
    { event: 'wait', seconds: 7, rateLimited: true, reason: WAIT.reason },
    { event: 'file', from: 0, to: 9, file: 'logs/0-9.json.gz', ...entry },
    { event: 'damage', file: 'logs/0-9.json.gz', message: 'The gateway sends something else.' },
  ]);
});
