import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ROOT, read } from './repository.js';

function count(...reports: unknown[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'count-'));
  const files = reports.map((report, index) => {
    const file = join(folder, `report-${index}.json`);
    if (report !== undefined)
      writeFileSync(file, typeof report === 'string' ? report : JSON.stringify(report));
    return file;
  });
  const script = join(ROOT, 'infra/bootstrap/count-tests.mjs');
  const { stdout } = spawnSync(process.execPath, [script, ...files], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return stdout.trim();
}
const tests = (...statuses: string[]) => statuses.map((status) => ({ status }));

describe('counting tests', () => {
  it('sums what really ran', () => {
    const testResults = [
      { status: 'passed', assertionResults: tests('passed', 'passed', 'skipped') },
      { status: 'failed', assertionResults: tests('passed', 'failed', 'todo') },
    ];
    expect(count({ success: false, testResults })).toBe('3 1 2');
  });

  it.each<[string, unknown, string]>([
    [
      'a file that could not be loaded',
      { success: false, testResults: [{ status: 'failed', assertionResults: [] }] },
      '0 1 0',
    ],
    [
      'an error outside of the tests',
      { success: false, testResults: [{ status: 'passed', assertionResults: tests('passed') }] },
      '1 1 0',
    ],
    ['a run without tests', { success: true, testResults: [] }, '0 1 0'],
    ['a report that is no JSON', '{"testRes', '0 1 0'],
    ['a crash that leaves no report', undefined, '0 1 0'],
  ])('counts %s as a failure', (_, report, counts) => {
    expect(count(report)).toBe(counts);
  });

  describe('of which a file ran twice', () => {
    const file = (name: string, ...statuses: string[]) => ({
      name,
      status: statuses.includes('failed') ? 'failed' : 'passed',
      assertionResults: tests(...statuses),
    });
    const first = { success: false, testResults: [file('a', 'passed'), file('b', 'passed', 'failed')] };

    it('takes its second result, whatever that is', () => {
      const passing = { success: true, testResults: [file('b', 'passed', 'passed')] };
      expect(count(first, passing)).toBe('3 0 0');
      const failing = { success: false, testResults: [file('b', 'failed', 'failed')] };
      expect(count(first, failing)).toBe('1 2 0');
    });

    it.each<[string, unknown]>([
      ['crashed', ''],
      ['ran other files', { success: true, testResults: [file('c', 'passed')] }],
      ['ran none', { success: true, testResults: [] }],
    ])('keeps the first if the second run %s', (_, second) => {
      expect(count(first, second)).toBe('2 1 0');
    });

    it('forgives no error outside of the tests', () => {
      const lost = { success: false, testResults: [file('a', 'passed')] };
      expect(count(lost, { success: true, testResults: [file('a', 'passed')] })).toBe('1 1 0');
    });
  });
});

it('every script of the root starts a file that is there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const name of [
    'start',
    'test',
    'attack',
    'bench',
    'fuzz',
    'kill-test',
    'nightly',
    'other-days',
    'simulate',
  ]) {
    const file = /^exec node (\S+)$/.exec(scripts[name] ?? '')?.[1];
    expect(read(file ?? ''), name).toContain('await prepare()');
  }
});

it('a Node that is too old is told so in one sentence, before anything else happens', () => {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.1' } });
    await import(${JSON.stringify(new URL('../../../infra/bootstrap/start.mjs', import.meta.url).href)});`;
  const args = ['--input-type=module', '-e', code];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toBe(
    'Packhouse needs Node 20.15 or later, this is 18.19.1. Install it from https://nodejs.org.\n',
  );
});

it('a step that takes long says again and again for how long, and no more after its end', async () => {
  const { withTime } = (await import(join(ROOT, 'infra/bootstrap/prepare.mjs'))) as {
    withTime<T>(
      what: string,
      step: () => Promise<T>,
      how: { everyMs: number; tell(line: string): void },
    ): Promise<T>;
  };
  const lines: string[] = [];
  let enough: (value: string) => void = () => undefined;
  const step = () =>
    new Promise<string>((resolve) => {
      enough = resolve;
    });
  const tell = (line: string) => {
    lines.push(line);
    if (lines.length === 3) enough('done');
  };
  vi.useFakeTimers();
  const running = withTime('Installing dependencies', step, { everyMs: 10_000, tell });
  await vi.advanceTimersByTimeAsync(45_000);
  vi.useRealTimers();
  expect(await running).toBe('done');
  expect(lines).toEqual([10, 20, 30].map((seconds) => `Installing dependencies … ${seconds} s`));
});

it('npm start says that it still installs, to a reader that is no terminal too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  cpSync(join(ROOT, 'infra/bootstrap'), join(folder, 'infra/bootstrap'), { recursive: true });
  writeFileSync(join(folder, 'package-lock.json'), '{"packages":{}}');
  const seen = join(folder, 'seen');
  // An npm that installs until two lines were seen, on a clock that runs a thousand times as fast.
  const npm = join(folder, 'npm.js');
  writeFileSync(
    npm,
    `setInterval(() => require('fs').existsSync(${JSON.stringify(seen)}) && process.exit(7), 5)`,
  );
  const clock = join(folder, 'clock.mjs');
  writeFileSync(
    clock,
    'const { setInterval: real } = globalThis; globalThis.setInterval = (call, ms) => real(call, ms / 1_000);',
  );
  const child = spawn(process.execPath, ['--import', clock, join(folder, 'infra/bootstrap/start.mjs')], {
    env: { ...process.env, npm_execpath: npm },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if ((said.match(/^Installing dependencies … \d+ s$/gm) ?? []).length >= 2) writeFileSync(seen, '');
  });
  const [code] = (await once(child, 'close')) as [number];
  rmSync(folder, { recursive: true });
  expect(code).toBe(1);
  expect(said).toMatch(
    /^Installing dependencies \(on the first start.*\n(Installing dependencies … \d+ s\n){2,}/,
  );
  expect(said).toMatch(/Could not install the dependencies\. .*\n$/);
});

it('the check run is a sound shell script', () => {
  execFileSync('bash', ['-n', join(ROOT, '.ci/run')]);
});
