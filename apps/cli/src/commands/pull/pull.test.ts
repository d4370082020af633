import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli.js';
import { takeFolder } from '../../installation/directory-lock.js';
import { memoryIo, run } from '../../testing/run.js';

const KEY = `ph_12345678_${'k'.repeat(43)}`;
const URL = 'http://127.0.0.1:9/ethereum';
let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'packhouse-pull-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pull = (...args: string[]) => run(['pull', ...args], { cwd, env: { PACKHOUSE_API_KEY: KEY } });

it.each([
  [[URL], /required option '--kinds <kinds>'/],
  [
    [URL, '--kinds', 'logs,blocks', '--format', 'csv', '--out', '-'],
    /Only one kind can be written to stdout/,
  ],
  [
    [URL, '--kinds', 'logs,traces', '--format', 'postgres://h/d?table=x'],
    /--format names one table for several kinds/,
  ],
  [[URL, '--kinds', 'logs', '--schema', 'dune', '--format', 'csv'], /There is no schema "dune"/],
  [[URL, '--kinds', 'logs', '--schema', 'cryo'], /--schema needs a format of rows/],
  [[URL, '--kinds', 'tokens'], /There is no kind "tokens"/],
  [[URL, '--kinds', 'logs', '--from', 'x'], /--from takes a block or a date/],
  [
    [URL, '--kinds', 'logs', '--to', 'csv'],
    /--to takes a block or a date\. Name a format of rows with --format/,
  ],
  [[URL, '--kinds', 'logs', '--format', 'xml'], /There is no format "xml".* postgres:.*\?table=logs/],
  [[URL, '--kinds', 'logs', '--format', 'csv', '--out', 'a.csv'], /Give a folder, or .* --out - > a\.csv/],
  [[URL, '--kinds', 'logs', '--format', 'parquet', '--out', '-'], /Parquet cannot be written to stdout/],
  [
    [URL, '--kinds', 'logs', '--format', 'postgres://h/d', '--out', 'x'],
    /--out is for files, but the target is a table/,
  ],
  [[URL, '--kinds', 'logs', '--format', 'postgres://h/d?table='], /The table name of --format is empty/],
  [[URL, '--kinds', 'logs', '--format', 'duckdb', '--out', '-'], /A DuckDB file cannot be written to stdout/],
  [[URL, '--kinds', 'logs', '--partition', '10'], /--partition needs a format of rows/],
  [
    [URL, '--kinds', 'logs', '--format', 'csv', '--bytes', 'blob'],
    /--bytes blob is not available in the format csv/,
  ],
  [
    [URL, '--kinds', 'logs', '--format', 'parquet', '--bytes', 'hex'],
    /--bytes takes text or blob, got "hex"/,
  ],
  [
    [URL, '--kinds', 'logs', '--format', 'csv', '--partition', '0'],
    /--partition takes a whole number of at least 1, got "0"/,
  ],
  [
    [URL, '--kinds', 'logs', '--format', 'csv', '--out', '-', '--partition', '9'],
    /Rows on stdout cannot be partitioned/,
  ],
  [[URL, '--kinds', 'logs', '--topic', 'Transfer'], /--topic needs a format of rows/],
  [[URL, '--kinds', 'logs', '--format', 'jsonl', '--topic', 'Transfer'], /"Transfer" is no topic/],
  [[URL, '--kinds', 'logs', '--follow'], /--follow needs a format that keeps a cursor .* duckdb or parquet/],
  [[URL, '--kinds', 'logs', '--follow', '--format', 'jsonl'], /--follow needs a format that keeps a cursor/],
  [
    [URL, '--kinds', 'logs', '--follow', '--format', 'parquet', '--to', '9'],
    /--to does not go with --follow/,
  ],
  [
    [URL, '--kinds', 'logs', '--follow', '--format', 'parquet', '--dry-run'],
    /--dry-run does not go with --follow/,
  ],
  [
    [URL, '--kinds', 'logs,blocks', '--follow', '--format', 'duckdb'],
    /--follow takes one kind for a DuckDB file/,
  ],
  [
    [URL, '--kinds', 'logs', '--follow', '--format', 'parquet', '--from', '2024-05-01'],
    /--from takes a block number with --follow/,
  ],
  [['data.example.com', '--kinds', 'logs'], /is not the address of a network/],
  [[`${URL}/v1/${KEY}/`, '--kinds', 'logs'], /Leave out the API key/],
])('%j is refused before anything is asked', async (args, sentence) => {
  const { code, err } = await pull(...args);
  expect(code).toBe(64);
  expect(err).toMatch(sentence);
  expect(err).not.toContain('kkkkkkkk');
});

it('--help names no default of options that may be given again', async () => {
  const { out } = await run(['pull', '--help'], { cwd });
  expect(out).toContain('--topic <event>');
  expect(out).not.toContain('[]');
});

it('a folder that another pull is at work in is refused with exit code 75', async () => {
  const lock = takeFolder(cwd, process.pid);
  const { code, err } = await pull(URL, '--kinds', 'logs', '--out', '.');
  lock.release();
  expect(code).toBe(75);
  expect(err).toContain(`is in use by process ${process.pid}. Wait until that one is done, or give another`);
});

describe('the API key', () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response
      .writeHead(401)
      .end('{"reason":"unauthenticated","detail":"The API key is missing or not valid."}');
  });
  let url: string;
  beforeEach(async () => {
    asked.length = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ethereum`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));
  const args = (): string[] => [url, '--kinds', 'logs', '--dry-run'];

  it('is missing, or only a part: that is said, and where it belongs', async () => {
    expect(await run(['pull', ...args()], { cwd })).toMatchObject({
      code: 64,
      err: expect.stringMatching(/There is no API key\. Put it into PACKHOUSE_API_KEY/),
    });
    const half = await run(['pull', ...args()], { cwd, env: { PACKHOUSE_API_KEY: KEY.slice(0, 30) } });
    expect(half).toMatchObject({ code: 64, err: expect.stringContaining('is not a whole key') });
    expect(asked).toEqual([]);
  });

  it('is read from a file, and a file that others can read is spoken of', async () => {
    const file = path.join(cwd, 'key');
    await writeFile(file, `${KEY}\n`);
    await chmod(file, 0o644);
    const { code, err } = await run(['pull', ...args(), '--api-key-file', 'key'], { cwd });
    expect(code).toBe(69);
    expect(err).toContain('other users can read key. Run chmod 600 key.');
    expect(err).toContain('refused the API key: The API key is missing or not valid.');
    expect(err).not.toContain('kkkkkkkk');
    expect(asked[0]).toContain(KEY);
    expect(await run(['pull', ...args(), '--api-key-file', 'none'], { cwd })).toMatchObject({ code: 64 });
  });

  it('is refused: a first pull leaves no file and no folder', async () => {
    const { code, err } = await pull(url, '--kinds', 'logs', '--out', 'new/logs');
    expect([code, err]).toEqual([69, expect.stringContaining('refused the API key')]);
    expect((await pull(url, '--kinds', 'logs', '--out', '.')).code).toBe(69);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('is asked for on a terminal, and not echoed', async () => {
    const { io, said } = memoryIo({ cwd });
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const running = runCli({ ...io, stdin }, ['pull', ...args()]);
    stdin.write(`${KEY}\r`);
    await expect(running).rejects.toMatchObject({ code: 'API_KEY_REFUSED' });
    expect(said.err).toBe('API key: \n');
    expect(asked[0]).toContain(KEY);
  });
});
