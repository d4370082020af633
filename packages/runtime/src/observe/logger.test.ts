import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { createLogger } from './logger.js';

it('writes one JSON line an entry, with nothing secret in it, whatever it came in by (invariant 8)', () => {
  const lines: string[] = [];
  const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
  const secret = 'hunter2hunter2hunter2';
  const cause = new Error(`connect to https://u:${secret}@node.example/${secret} failed`);
  logger.error(
    { err: new Error(`tried "http://n.example/${secret}"`, { cause }) },
    `key ph_AbCd1234_${secret}`,
  );
  logger
    .child({ url: `https://x.example/${secret}` })
    .warn({ headers: { authorization: `Bearer ${secret}` } });
  logger.debug('not at this level');
  expect(lines).toHaveLength(2);
  const [first, second] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ level: 'error', name: 'test', msg: 'key ph_AbCd1234_***' });
  expect(first.err.message).toContain('tried "http://n.example/***"');
  expect(second).toMatchObject({ level: 'warn', url: 'https://x.example/***' });
  expect(lines.join('')).not.toContain(secret);
  expect(lines.every((line) => line.endsWith('}\n'))).toBe(true);
});

it('writes to stderr, so that stdout belongs to the program', () => {
  const code = `import { createLogger } from ${JSON.stringify(new URL('./logger.ts', import.meta.url).href)};
    createLogger({ name: 'child' }).info('hello');`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(JSON.parse(stderr)).toMatchObject({ level: 'info', name: 'child', msg: 'hello' });
});

it.skipIf(!existsSync('/dev/full'))('goes on where its lines cannot be written (needs /dev/full)', () => {
  const code = `import { createLogger } from ${JSON.stringify(new URL('./logger.ts', import.meta.url).href)};
    const logger = createLogger({ name: 'child' });
    for (let line = 0; line < 3; line++) logger.info('no space is left for this');
    process.stdout.write('still there');`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', code];
  const full = openSync('/dev/full', 'w');
  const { stdout, status } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', full],
  });
  closeSync(full);
  expect({ stdout, status }).toEqual({ stdout: 'still there', status: 0 });
});

it('writes warnings and errors of the same words once in the time, and infos always', () => {
  const lines: string[] = [];
  const logger = createLogger({
    name: 'test',
    repeatMs: 3_600_000,
    destination: { write: (line) => lines.push(line) },
  });
  const part = logger.child({ part: 'queue' });
  for (let block = 1; block <= 1_000; block++) {
    logger.warn({ network: 'main', block, err: new Error(`block ${block} has no receipts`) }, 'failed');
    part.error(`job ${block} is lost`);
  }
  logger.warn({ network: 'other', block: 1, err: new Error('block 1 has no receipts') }, 'failed');
  logger.info('published 1');
  logger.info('published 1');
  expect(
    lines.map((line) => JSON.parse(line)).map(({ level, msg, network }) => [level, msg, network]),
  ).toEqual([
    ['warn', 'failed', 'main'],
    ['error', 'job 1 is lost', undefined],
    ['warn', 'failed', 'other'],
    ['info', 'published 1', undefined],
    ['info', 'published 1', undefined],
  ]);
});

it('tells with the next line how many were kept back', () => {
  vi.useFakeTimers();
  try {
    const lines: string[] = [];
    const logger = createLogger({
      name: 'test',
      repeatMs: 60_000,
      destination: { write: (line) => lines.push(line) },
    });
    for (let time = 0; time < 3; time++) logger.warn({ block: time }, 'slow');
    for (let time = 0; time < 2; time++) logger.error(new Error('gone'));
    vi.advanceTimersByTime(60_000);
    logger.warn({ block: 9 }, 'slow');
    logger.error(new Error('gone'));
    const told = lines.map((line) => JSON.parse(line));
    expect(told.map(({ repeated }) => repeated)).toEqual([undefined, undefined, 2, 1]);
    expect(told[2]).toMatchObject({ msg: 'slow', block: 9 });
    expect(told[3]).toMatchObject({ level: 'error', err: { message: 'gone' } });
  } finally {
    vi.useRealTimers();
  }
});
