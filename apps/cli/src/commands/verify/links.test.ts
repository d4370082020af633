import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Downloads, makeDownloads } from '../../testing/downloads.js';
import { type Outcome, run } from '../../testing/run.js';

let here: Downloads;
let elsewhere: string;
beforeEach(async () => {
  here = await makeDownloads();
  for (const end of [9, 19]) await here.publish('logs', end - 9, end);
  elsewhere = await mkdtemp(path.join(tmpdir(), 'packhouse-elsewhere-'));
});
afterEach(async () => {
  await here.close();
  await rm(elsewhere, { recursive: true, force: true });
});

const verify = (): Promise<Outcome> => run(['verify', '.'], { cwd: here.directory });

it('a bundle that is a link is checked, wherever it leads', async () => {
  const outside = path.join(elsewhere, 'a');
  await rename(here.at('logs', '0-9.json.gz'), outside);
  await symlink(outside, here.at('logs', '0-9.json.gz'));
  await rename(here.at('logs', '10-19.json.gz'), here.at('inside'));
  await symlink('../inside', here.at('logs', '10-19.json.gz'));
  expect(await verify()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^2 valid files /),
  });
  await appendFile(outside, 'x');
  await appendFile(here.at('inside'), 'x');
  const { code, out } = await verify();
  expect(code).toBe(2);
  expect(out).toContain('logs/0-9.json.gz is damaged: it is too long');
  expect(out).toContain('logs/10-19.json.gz is damaged: it is too long');
});

it('a folder that is a link is walked, and one around it only once', async () => {
  await rename(here.at('logs'), path.join(elsewhere, 'logs'));
  await symlink(path.join(elsewhere, 'logs'), here.at('logs'));
  await symlink('.', path.join(elsewhere, 'logs', 'again'));
  await mkdir(path.join(elsewhere, 'logs', 'deep'));
  await symlink('..', path.join(elsewhere, 'logs', 'deep', 'back'));
  await symlink(here.directory, path.join(elsewhere, 'logs', 'deep', 'home'));
  expect(await verify()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^2 valid files /),
  });
  await appendFile(path.join(elsewhere, 'logs', '0-9.json.gz'), 'x');
  expect((await verify()).code).toBe(2);
});

it('a link to nowhere or to itself, and what is no file, are named and fail', async () => {
  await rm(here.at('logs', '0-9.json.gz'));
  await symlink('nowhere', here.at('logs', '0-9.json.gz'));
  await symlink('20-29.json.gz', here.at('logs', '20-29.json.gz'));
  execFileSync('mkfifo', [here.at('logs', '30-39.json.gz')]);
  const { code, out } = await verify();
  expect(code).toBe(2);
  expect(out.split('\n').slice(0, 3).sort()).toEqual([
    'logs/0-9.json.gz is a link to a missing file (ENOENT).',
    'logs/20-29.json.gz is a link that cannot be followed (ELOOP).',
    'logs/30-39.json.gz is not a file and cannot be verified.',
  ]);
});
