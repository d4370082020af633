import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, read } from './repository.js';

function count(report: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'count-'));
  const file = join(folder, 'report.json');
  if (report !== undefined) writeFileSync(file, typeof report === 'string' ? report : JSON.stringify(report));
  const script = join(ROOT, 'infra/bootstrap/count-tests.mjs');
  const { stdout } = spawnSync(process.execPath, [script, file], { encoding: 'utf8' });
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
});

it('every script of the root starts a file that is there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const name of ['start', 'test', 'bench', 'kill-test', 'simulate']) {
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
  expect(stderr).toBe('Packhouse needs Node 20.15 or later, this is 18.19.1: see https://nodejs.org.\n');
});

it('the check run is a sound shell script', () => {
  execFileSync('bash', ['-n', join(ROOT, '.ci/run')]);
});
