import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { entryLine, type SealedEntry } from '@packhouse/manifest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Downloads, makeDownloads } from '../../testing/downloads.js';
import { jsonLines, type Outcome, run } from '../../testing/run.js';

let here: Downloads;
let head: string;
beforeEach(async () => {
  here = await makeDownloads();
  for (const end of [9, 19, 29, 39]) await here.publish('logs', end - 9, end);
  head = `${entryLine((here.entries.get('logs') as SealedEntry[])[3] as SealedEntry)}\n`;
});
afterEach(() => here.close());

const verify = (...args: string[]): Promise<Outcome> =>
  run(['verify', 'logs', '--key', 'packhouse-manifest-keys.json', '--manifest', 'logs.jsonl', ...args], {
    cwd: here.directory,
  });
const lines = async (): Promise<string[]> =>
  (await readFile(here.at('logs.jsonl'), 'utf8')).trimEnd().split('\n');
const keep = async (count: number): Promise<void> =>
  writeFile(
    here.at('logs.jsonl'),
    (await lines())
      .slice(0, count)
      .map((line) => `${line}\n`)
      .join(''),
  );
const DATE = new Date(1_700_000_000_000).toISOString();

describe('a manifest whose last entries are cut off', () => {
  it('is taken for whole without a signed head, and that is said', async () => {
    await keep(4);
    expect((await verify()).out).toMatch(/end not verified without a signed head \(logs of ethereum\)\.\n$/);
    expect(jsonLines(await verify('--json')).at(-1)).toMatchObject({
      ok: true,
      keys: [here.signer.keyId],
      completeThroughHead: [],
      endNotVerified: ['logs of ethereum'],
    });
  });

  it.each([
    [3, 'it ends at entry 2, and entry 3 is missing'],
    [1, 'it ends at entry 0, and entries 1 to 3 are missing'],
    [0, 'it has no entry, and entries 0 to 3 are missing'],
  ])('after %d entries fails against a saved head, which says what is missing', async (count, what) => {
    await writeFile(here.at('manifest-head.jsonl'), head);
    await keep(count);
    const outcome = await verify('--head', 'manifest-head.jsonl');
    expect(outcome.code).toBe(2);
    expect(outcome.out.split('\n')[0]).toBe(
      `The manifest of logs of ethereum is truncated: ${what}. The head signed on ${DATE} is entry 3.`,
    );
    // Found in the folder by its name, too.
    const args = ['verify', '.', '--manifest', 'logs.jsonl', '--json'];
    const found = await run(args, { cwd: here.directory });
    expect(found.code).toBe(2);
    expect(jsonLines(found)[0]).toMatchObject({ event: 'damage', message: expect.stringContaining(what) });
  });
});

describe('a manifest that reaches its signed head', () => {
  it('is whole, and may have newer entries', async () => {
    await writeFile(here.at('head.jsonl'), head);
    const whole = `; complete through the signed head (logs of ethereum: ${DATE}).\n`;
    expect(await verify('--head', 'head.jsonl')).toMatchObject({
      code: 0,
      out: expect.stringContaining(whole),
    });
    await here.publish('logs', 40, 49);
    expect(await verify('--head', 'head.jsonl')).toMatchObject({
      code: 0,
      out: expect.stringContaining(whole),
    });
    expect(jsonLines(await verify('--head', 'head.jsonl', '--json')).at(-1)).toMatchObject({
      entries: 5,
      completeThroughHead: [{ log: 'logs of ethereum', entries: 4, signedAt: DATE }],
      endNotVerified: [],
    });
  });

  it('is a fork if the entry there is another one', async () => {
    const last = (here.entries.get('logs') as SealedEntry[])[3] as SealedEntry;
    const { hash: _, signature: __, ...facts } = last;
    await writeFile(here.at('head.jsonl'), `${entryLine(here.signer.seal({ ...facts, rawBytes: 1 }))}\n`);
    const { code, out } = await verify('--head', 'head.jsonl');
    expect(code).toBe(2);
    expect(out).toContain('The manifest of logs of ethereum is forked: its entry 3 differs from the head');
  });
});

it('a head that is not signed with the keys is refused', async () => {
  const stranger = await makeDownloads();
  await stranger.publish('logs', 0, 9);
  await writeFile(here.at('head.jsonl'), await readFile(stranger.at('logs.jsonl')));
  await stranger.close();
  const unknown = await verify('--head', 'head.jsonl');
  expect(unknown).toMatchObject({
    code: 2,
    err: expect.stringContaining('which is not among the keys given'),
  });
  await writeFile(here.at('head.jsonl'), head.replace('"sequence":3', '"sequence":9'));
  expect(await verify('--head', 'head.jsonl')).toMatchObject({
    code: 2,
    err: expect.stringContaining('was changed: it does not have the hash it says'),
  });
  expect(await verify('--head', 'nowhere.jsonl')).toMatchObject({ code: 64 });
});

describe('a gateway', () => {
  const key = `ph_12345678_${'k'.repeat(43)}`;
  let server: Server;
  let base: string;
  let answer: { status: number; text: string };
  beforeEach(async () => {
    const text = await readFile(here.at('logs.jsonl'), 'utf8');
    server = createServer((request, response) => {
      const [path, query] = (request.url ?? '').split('?');
      if (path === `/ethereum/v1/${key}/bundle-api/manifest/head`) {
        response.writeHead(answer.status).end(answer.text);
      } else if (path?.endsWith('/bundle-api/manifest') && query?.includes('kind=logs')) {
        // As a proxy that cuts the answer off after whole lines.
        response.end(text.split('\n').slice(0, 2).join('\n').concat('\n'));
      } else response.writeHead(404).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ethereum/v1/`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));
  const check = (...args: string[]): Promise<Outcome> =>
    run(['verify', 'logs', '--key', 'packhouse-manifest-keys.json', '--api-key', key, ...args], {
      cwd: here.directory,
    });

  it('that the manifest is read from is asked for the head', async () => {
    answer = { status: 200, text: head };
    const { code, out } = await check('--manifest', base);
    expect(code).toBe(2);
    expect(out).toContain('is truncated: it ends at entry 1, and entries 2 to 3 are missing');
  });

  it('is asked with --head alone', async () => {
    answer = { status: 200, text: head };
    await keep(3);
    const { code, out } = await check('--manifest', 'logs.jsonl', '--head', base);
    expect(code).toBe(2);
    expect(out).toContain('and entry 3 is missing');
  });

  it('that is too old to have heads leaves the end unchecked, which is said', async () => {
    answer = { status: 404, text: '{"reason":"path-unknown"}' };
    const { code, out } = await check('--manifest', 'logs.jsonl', '--head', base);
    expect(code).toBe(0);
    expect(out).toContain('end not verified without a signed head');
  });

  it('that fails is an error, not an unchecked end', async () => {
    answer = { status: 503, text: '{"detail":"Postgres is away."}' };
    const { code, err } = await check('--manifest', 'logs.jsonl', '--head', base);
    expect(code).toBe(69);
    expect(err).toContain(': Postgres is away.');
  });
});
