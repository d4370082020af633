import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { filesUnder, ROOT, read } from './repository.js';

interface Reports {
  countTests(text: string): { passed: number; failed: number; skipped: number };
  listSkipped(text: string): { needs: [string, number][]; unnamed: string[] };
  listWhole(text: string): string[];
}
const load = <T>(file: string) => import(join(ROOT, 'infra/bootstrap/suites', file)) as Promise<T>;
const tests = (...statuses: string[]) => statuses.map((status) => ({ status, fullName: 'a test' }));

describe('a report of the tests', () => {
  const count = async (report: unknown): Promise<string> => {
    const { countTests } = await load<Reports>('report.mjs');
    const counts = countTests(typeof report === 'string' ? report : JSON.stringify(report));
    return Object.values(counts).join(' ');
  };

  it('is summed: what really ran', async () => {
    const testResults = [
      { status: 'passed', assertionResults: tests('passed', 'passed', 'skipped') },
      { status: 'failed', assertionResults: tests('passed', 'failed', 'todo') },
    ];
    expect(await count({ success: false, testResults })).toBe('3 1 2');
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
    ['a crash that leaves no report', '', '0 1 0'],
  ])('counts %s as a failure', async (_, report, counts) => {
    expect(await count(report)).toBe(counts);
  });

  it('names what skipped tests need, and those that do not say it', async () => {
    const { listSkipped } = await load<Reports>('report.mjs');
    const named = (status: string, fullName: string) => ({ status, fullName });
    const assertionResults = [
      named('skipped', 'queues on Redis (needs redis-server) give each job once'),
      named('pending', 'filters on Redis (needs redis-server) are shared'),
      named('skipped', 'the lines for pandas (needs pandas and pyarrow)'),
      named('skipped', 'wants what no table names (needs luck)'),
      named('skipped', 'a test that somebody switched off'),
      named('passed', 'the doctor (needs chromium)'),
    ];
    expect(listSkipped(JSON.stringify({ testResults: [{ status: 'passed', assertionResults }] }))).toEqual({
      needs: [
        ['redis-server', 2],
        ['pandas and pyarrow', 1],
      ],
      unnamed: ['wants what no table names (needs luck)', 'a test that somebody switched off'],
    });
  });

  it('names the files of which nothing is left to run', async () => {
    const { listWhole } = await load<Reports>('report.mjs');
    const file = (name: string, status: string, ...each: string[]) => ({
      name,
      status,
      assertionResults: tests(...each),
    });
    const testResults = [
      file('/a/whole.test.ts', 'passed', 'passed', 'passed'),
      file('/a/part.test.ts', 'passed', 'passed', 'skipped'),
      file('/a/broken.test.ts', 'failed', 'passed', 'failed'),
      file('/a/unloaded.test.ts', 'failed'),
    ];
    expect(listWhole(JSON.stringify({ testResults }))).toEqual(['/a/whole.test.ts']);
  });
});

describe('what was not run', () => {
  interface Sum {
    failed: number;
    missing: string[];
  }
  interface Runs {
    createSum(): Sum;
    addRun(sum: Sum, text: string): void;
    toClosingLines(sum: Sum): string[];
  }

  it('is said with the line that changes it, before the closing line', async () => {
    const { createSum, addRun, toClosingLines } = await load<Runs>('run-tests.mjs');
    const sum = createSum();
    const of = (...names: string[]) => ({
      success: true,
      testResults: [
        {
          status: 'passed',
          assertionResults: [
            { status: 'passed', fullName: 'all is well' },
            ...names.map((fullName) => ({ status: 'skipped', fullName })),
          ],
        },
      ],
    });
    addRun(sum, JSON.stringify(of('in Chromium (needs chromium)')));
    addRun(sum, JSON.stringify(of('on Redis (needs redis-server)', 'also on Redis (needs redis-server)')));
    sum.missing.push('other days: apt-get install libfaketime');
    expect(toClosingLines(sum)).toEqual([
      'Not run, and what it takes:',
      '  redis-server: 2 tests, apt-get install redis-server',
      '  chromium: 1 test, apt-get install chromium',
      '  other days: apt-get install libfaketime',
      '2 passed, 0 failed, 3 skipped',
    ]);
    addRun(sum, JSON.stringify(of('switched off')));
    expect(sum.failed).toBe(1);
    expect(toClosingLines(sum).at(-1)).toBe('3 passed, 1 failed, 3 skipped');
  });

  it('is followed by the names and causes of what failed, a file that could not be loaded too', async () => {
    const { createSum, addRun, toClosingLines } = await load<Runs>('run-tests.mjs');
    const sum = createSum();
    const testResults = [
      {
        name: 'a.test.ts',
        status: 'failed',
        message: '',
        assertionResults: [
          {
            status: 'failed',
            fullName: 'adds up',
            failureMessages: ['Error: expected 1\n  to be \u001b[32m2\u001b[39m\n    at a.test.ts:1:2'],
          },
        ],
      },
      { name: 'b.test.ts', status: 'failed', message: '', assertionResults: [] },
    ];
    addRun(sum, JSON.stringify({ success: false, testResults }));
    expect(toClosingLines(sum)).toEqual([
      'FAILED: adds up: Error: expected 1 to be 2',
      'FAILED: b.test.ts',
      '0 passed, 2 failed',
    ]);
  });
});

it('docs/testing.md says of every suite that needs RECORDINGS what a clone has in its place', () => {
  const titles = ['apps', 'packages', 'test']
    .flatMap(filesUnder)
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('test/architecture/'))
    .flatMap((file) => [...read(file).matchAll(/([\x22\x27\x60])((?:(?!\1).)+) \(needs RECORDINGS\)\1/g)])
    .map(([, , title]) => title);
  const table = read('docs/testing.md').split('| needs RECORDINGS | ')[1]?.split('\n\n')[0] ?? '';
  const rows = table
    .split('\n')
    .slice(2)
    .map((row) => row.split(' | ')[0]?.slice(2));
  expect(titles.length).toBeGreaterThan(10);
  expect(rows.sort()).toEqual(titles.sort());
});

describe('the lists of test files', () => {
  interface Lists {
    LATER: string[];
    NIGHT: string[];
    LONG: string[];
  }
  const onDisk = () =>
    ['apps', 'packages', 'infra', 'test'].flatMap(filesUnder).filter((file) => /\.test\.tsx?$/.test(file));

  it('name files that are there, each in one list at most', async () => {
    const { LATER, NIGHT, LONG } = await load<Lists>('files.mjs');
    expect([...LATER, ...NIGHT, ...LONG].filter((file) => !onDisk().includes(file))).toEqual([]);
    const cut = [...LATER, ...NIGHT];
    expect(cut.filter((file, index) => cut.indexOf(file) < index)).toEqual([]);
    expect(LATER).toEqual([...LATER].sort());
  });

  it('leave no file out: what is in neither is in npm test, and each of the night in a suite', async () => {
    const { NIGHT } = await load<Lists>('files.mjs');
    const { listNightly, listSuites } = await load<{
      listNightly(): { args: string[] }[];
      listSuites(files: string[]): { args: string[] }[];
    }>('suites.mjs');
    const named = listNightly().flatMap(({ args }) => args);
    expect(NIGHT.filter((file) => !named.includes(file))).toEqual([]);
    // All others: vitest takes every file that its projects include.
    expect(listSuites([])[0]?.args).toEqual(['node_modules/vitest/vitest.mjs', 'run']);
    const config = read('vitest.config.ts');
    expect(config).toContain("include: ['{packages,apps,infra,test}/*/src/**/*.test.ts']");
    expect(
      onDisk().filter((file) => !/^(packages|apps|infra|test)\/[^/]+\/(web\/)?src\/.*\.test\.ts$/.test(file)),
    ).toEqual([]);
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
    'test:all',
    'other-days',
    'simulate',
  ]) {
    const file = /^exec node (\S+)( --nightly)?$/.exec(scripts[name] ?? '')?.[1];
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
