import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('../', import.meta.url));
const manifest = JSON.parse(await readFile(path.join(FOLDER, 'package.json'), 'utf8')) as {
  version: string;
  bin: { packhouse: string };
};
const node = (file: string): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [file, '--version']);

let unbuilt: string;
beforeAll(async () => {
  unbuilt = await mkdtemp(path.join(tmpdir(), 'packhouse-launcher-'));
  await cp(path.join(FOLDER, 'bin'), path.join(unbuilt, 'bin'), { recursive: true });
  await writeFile(path.join(unbuilt, 'package.json'), JSON.stringify({ type: 'module' }));
});
afterAll(() => rm(unbuilt, { recursive: true, force: true }));

test('what npm links as packhouse is there before anything is built', async () => {
  expect(path.normalize(manifest.bin.packhouse)).not.toMatch(/^dist\b/);
  expect(await readFile(path.join(FOLDER, manifest.bin.packhouse), 'utf8')).toMatch(
    /^#!\/usr\/bin\/env node\n/,
  );
});

test('it runs the command line', async () => {
  const { stdout } = await node(path.join(FOLDER, manifest.bin.packhouse));
  expect(stdout).toBe(`${manifest.version}\n`);
});

test('without a build it says in one sentence how to make one', async () => {
  await expect(node(path.join(unbuilt, manifest.bin.packhouse))).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'packhouse: Packhouse is not built yet: run `npm run build` in its folder first.\n',
  });
});
