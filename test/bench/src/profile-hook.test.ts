import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** A program whose thread knows nothing of its options, and is ended from outside. */
const PROGRAM = `
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const worker = new Worker(new URL('thread.mjs', import.meta.url), { execArgv: [], env: {} });
await once(worker, 'message');
await worker.terminate();
`;
const THREAD = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', () => undefined);
parentPort.postMessage(1);
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'profile-hook-'));
  for (const app of ['wanted', 'other']) {
    await mkdir(path.join(folder, 'apps', app, 'dist'), { recursive: true });
    await writeFile(path.join(folder, 'apps', app, 'dist/main.mjs'), PROGRAM);
    await writeFile(path.join(folder, 'apps', app, 'dist/thread.mjs'), THREAD);
  }
});
afterAll(() => rm(folder, { recursive: true }));

it('profiles the main thread and all threads of the programs that are named', async () => {
  const hook = new URL('../dist/profile-hook.js', import.meta.url).href;
  const out = path.join(folder, 'profiles');
  await mkdir(out);
  const env = {
    NODE_OPTIONS: `--import ${hook}`,
    PACKHOUSE_PROFILE: 'wanted',
    PACKHOUSE_PROFILES: out,
  };
  for (const app of ['wanted', 'other']) {
    const file = path.join(folder, 'apps', app, 'dist/main.mjs');
    const { status, stderr } = spawnSync(process.execPath, [file], { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }
  const files = (await readdir(out)).sort();
  expect(files.map((file) => file.replace(/\d+-/, ''))).toEqual([
    'wanted-main.cpuprofile',
    'wanted-thread-1.cpuprofile',
  ]);
  for (const file of files) {
    const profile = JSON.parse(await readFile(path.join(out, file), 'utf8'));
    expect(profile.nodes[0].callFrame.functionName).toBe('(root)');
    expect(profile.samples).toHaveLength(profile.timeDeltas.length);
  }
});
