import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processSettings } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../testing/run.js';
import { systemdFiles } from './systemd-files.js';

/** Whether systemd-analyze can look at files without the systemd of the machine (from version 250). */
const canAnalyze = spawnSync('systemd-analyze', ['--help'], { encoding: 'utf8' }).stdout?.includes(
  '--offline',
);
/** The score that no unit may exceed: 0 is closed, 10 open. */
const MAX_EXPOSURE = 2;

let folder: string;
let units: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'units-'));
  units = path.join(folder, 'systemd/system');
  const { code, out } = await run(['install', '--systemd', '--to', '.'], { cwd: folder });
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringContaining(`Written: ${units}/packhouse.target\n`),
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('packhouse install --systemd', () => {
  it('writes what it prints, and nothing else', async () => {
    const { out } = await run(['install', '--systemd', '--json']);
    const files = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { path: string; text: string });
    const written = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) =>
      each.isFile(),
    );
    expect(written).toHaveLength(files.length);
    for (const file of files) {
      const at = path.join(folder, path.relative('/etc', file.path));
      expect(await readFile(at, 'utf8')).toBe(file.text);
      expect((await stat(at)).mode & 0o777).toBe(0o644);
    }
    const plain = await run(['install', '--systemd']);
    for (const { path: name, text } of files) expect(plain.out).toContain(`# ${name}\n${text}`);
  });

  it('says where it cannot write', async () => {
    const { code, err } = await run(['install', '--systemd', '--to', 'packhouse.target'], { cwd: units });
    expect(code).toBe(73);
    expect(err).toMatch(/^packhouse: Cannot write .*packhouse\.target.*\[OUTPUT_FAILED\]\n$/m);
  });

  it('warns if the units cannot see the program', async () => {
    const hidden = /^\/(home|root|run\/user|tmp|var\/tmp)\//.test(import.meta.filename);
    const { err } = await run(['install', '--systemd']);
    expect(err.includes('The units cannot see')).toBe(hidden || process.execPath.startsWith('/home/'));
  });

  it('waits longer than a process drains', async () => {
    const drainMs = processSettings.shape.DRAIN_LIMIT_MS.parse(undefined);
    for (const name of (await readdir(units)).filter((each) =>
      /gateway|ingester|packer|console/.test(each),
    )) {
      const text = await readFile(path.join(units, name), 'utf8');
      expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) * 1_000).toBeGreaterThan(drainMs);
    }
  });

  it('escapes what systemd would read in a path', () => {
    const files = systemdFiles({
      node: '/opt/node 20%/bin/node',
      main: '/opt/$HOME/"main".js',
      version: '1',
    });
    const migrate = files.find((file) => file.path.endsWith('migrate.service'));
    expect(migrate?.text).toContain(
      'ExecStart="/opt/node 20%%/bin/node" "/opt/$$HOME/\\"main\\".js" migrate\n',
    );
  });
});

describe.skipIf(!canAnalyze)('systemd-analyze (needs systemd)', () => {
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['--no-pager', ...args], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const services = async () => (await readdir(units)).filter((name) => /\.service$/.test(name)).sort();

  it('finds no mistake in any unit', async () => {
    for (const name of await services()) {
      if (name.includes('@'))
        await copyFile(path.join(units, name), path.join(units, name.replace('@', '@1')));
    }
    const names = (await readdir(units))
      .filter((name) => !name.includes('@.'))
      .map((name) => path.join(units, name));
    expect(names).toHaveLength(6);
    expect(analyze('verify', '--man=no', ...names)).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('scores the exposure of every unit as low, and finds nothing open but what docs/operating.md says', async () => {
    const page = await readFile(new URL('../../../../../docs/operating.md', import.meta.url), 'utf8');
    const open = [...page.matchAll(/^\| `([^`]+=[^`]*)` \| 0\.\d \|/gm)].map(([, name = '']) =>
      name.replaceAll('\\', ''),
    );
    for (const name of await services()) {
      const { status, stdout } = analyze(
        'security',
        '--offline=true',
        `--threshold=${MAX_EXPOSURE * 10}`,
        path.join(units, name),
      );
      expect({ name, status, line: stdout.trim().split('\n').at(-1) }).toEqual({
        name,
        status: 0,
        line: expect.stringContaining('Overall exposure level'),
      });
      const found = [...stdout.matchAll(/^✗ (\S+)/gm)].map(([, setting]) => setting);
      // The migration reports nothing to systemd.
      const expected = name.includes('migrate') ? open.filter((each) => each !== 'NotifyAccess=') : open;
      expect(found.sort(), name).toEqual(expected.sort());
    }
  });
});
