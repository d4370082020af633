import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

test('a Node that is too old is told so in one sentence', async () => {
  const bin = path.join(FOLDER, manifest.bin.packhouse);
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.1' } });
    await import(${JSON.stringify(pathToFileURL(bin).href)});`;
  const args = ['--input-type=module', '-e', code];
  await expect(promisify(execFile)(process.execPath, args)).rejects.toMatchObject({
    code: 1,
    stderr:
      'packhouse: Packhouse needs Node 20.15 or later, this is 18.19.1. Install it from https://nodejs.org.\n',
  });
});

test('a file .env in the folder is read; what the environment sets stays', async () => {
  const bin = path.join(FOLDER, manifest.bin.packhouse);
  const cwd = await mkdtemp(path.join(tmpdir(), 'packhouse env '));
  try {
    await writeFile(path.join(cwd, '.env'), 'LOG_LEVEL=loud\nDATABASE_URL=postgres://localhost:1/x\n');
    for (const command of ['migrate', 'packer']) {
      const start = (env: Record<string, string>): Promise<unknown> =>
        promisify(execFile)(process.execPath, [bin, command], { cwd, env });
      await expect(start({})).rejects.toMatchObject({
        code: 78,
        stderr: expect.stringMatching(/LOG_LEVEL: .*loud/),
      });
      const stderr = expect.not.stringContaining('LOG_LEVEL');
      await expect(start({ LOG_LEVEL: 'info' })).rejects.toMatchObject({ stderr });
    }
  } finally {
    await rm(cwd, { recursive: true });
  }
});
