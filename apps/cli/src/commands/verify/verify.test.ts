import { appendFile, copyFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { entryLine, type SealedEntry } from '@packhouse/manifest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Downloads, makeDownloads } from '../../testing/downloads.js';
import { jsonLines, type Outcome, run } from '../../testing/run.js';

let here: Downloads;
beforeEach(async () => {
  here = await makeDownloads();
  for (const kind of ['logs', 'blocks'] as const) {
    await here.publish(kind, 0, 9);
    await here.publish(kind, 10, 19);
    await here.publish(kind, 20, 20);
  }
});
afterEach(() => here.close());

const verify = (...args: string[]): Promise<Outcome> =>
  run(['verify', '.', ...args], { cwd: here.directory });

const REPLACE = 'To replace damaged files of a pull, run the same packhouse pull with --check.\n';

/** The reported damage; checks that the exit code is 2. */
function damage(outcome: Outcome): string[] {
  const lines = outcome.out.replace(REPLACE, '').trimEnd().split('\n').slice(0, -1);
  expect(outcome.code).toBe(2);
  expect(outcome.err).toBe('');
  for (const line of lines) expect(line).toMatch(/\.$/);
  return lines;
}

describe('packhouse verify', () => {
  it('finds manifests and keys in the folder and says that all is what was published', async () => {
    expect(await verify()).toEqual({
      code: 0,
      out: expect.stringMatching(
        new RegExp(
          `^6 valid files \\(.*\\), no damage, 0 missing; 6 manifest entries verified, signed with key ${here.signer.keyId}; end not verified without a signed head \\((blocks of ethereum, logs of ethereum|logs of ethereum, blocks of ethereum)\\)\\.\\n$`,
        ),
      ),
      err: '',
    });
  });

  it('takes single files with manifest and key named', async () => {
    const args = ['logs/10-19.json.gz', '--manifest', 'logs.jsonl', '--key', 'packhouse-manifest-keys.json'];
    const { code, out } = await run(['verify', ...args], { cwd: here.directory });
    expect(code).toBe(0);
    expect(out).toContain('Missing: 2 files of logs of ethereum: 0-9, 20-20.');
    expect(out).toContain('1 valid file ');
  });

  it('tells files of several kinds apart by their bytes where no folder does', async () => {
    for (const kind of ['logs', 'blocks']) {
      await mkdir(here.at('flat', `${kind}-files`), { recursive: true });
      await copyFile(here.at(kind, '0-9.json.gz'), here.at('flat', `${kind}-files`, '0-9.json.gz'));
    }
    const args = [
      '--manifest',
      'logs.jsonl',
      '--manifest',
      'blocks.jsonl',
      '--key',
      'packhouse-manifest-keys.json',
    ];
    const outcome = await run(['verify', 'flat', ...args, '--json'], { cwd: here.directory });
    expect(outcome.code).toBe(0);
    const lines = jsonLines(outcome);
    expect(lines.slice(0, 2).map(({ event, kind }) => [event, kind])).toEqual([
      ['ok', 'blocks'],
      ['ok', 'logs'],
    ]);
    expect(lines[2]).toEqual({
      event: 'end',
      ok: true,
      deep: false,
      files: 2,
      bytes: expect.any(Number),
      damaged: 0,
      entries: 6,
      keys: [here.signer.keyId],
      completeThroughHead: [],
      parts: [],
      endNotVerified: ['logs of ethereum', 'blocks of ethereum'],
      missing: 4,
      missingRanges: [
        { log: 'logs of ethereum', bundles: 2, ranges: [{ from: 10, to: 20 }] },
        { log: 'blocks of ethereum', bundles: 2, ranges: [{ from: 10, to: 20 }] },
      ],
    });
  });

  it('names a file with a flipped bit, one cut off and one too long', async () => {
    const file = await readFile(here.at('logs', '0-9.json.gz'));
    file[file.length >> 1] = (file[file.length >> 1] as number) ^ 1;
    await writeFile(here.at('logs', '0-9.json.gz'), file);
    const bytes = (await readFile(here.at('logs', '10-19.json.gz'))).length;
    await truncate(here.at('logs', '10-19.json.gz'), bytes - 3);
    await appendFile(here.at('blocks', '20-20.json.gz'), 'x');
    const outcome = await verify();
    expect(outcome.out.endsWith(REPLACE)).toBe(true);
    expect(damage(outcome)).toEqual([
      expect.stringMatching(
        /^logs\/0-9\.json\.gz is damaged: its sha256 is [0-9a-f]{64}, and the manifest has [0-9a-f]{64} for logs of ethereum\.$/,
      ),
      `logs/10-19.json.gz is damaged: it is cut off, with ${bytes - 3} bytes, and logs of ethereum has ${bytes}.`,
      expect.stringContaining('blocks/20-20.json.gz is damaged: it is too long'),
    ]);
  });

  it('lists what is not downloaded, which is no error unless everything was to be there', async () => {
    await rm(here.at('logs', '0-9.json.gz'));
    await rm(here.at('logs', '10-19.json.gz'));
    const outcome = await verify();
    expect(outcome.code).toBe(0);
    expect(outcome.out).toContain('Missing: 2 files of logs of ethereum: 0-19.');
    expect(await verify('--complete')).toMatchObject({ code: 2, out: outcome.out });
  });

  it('says what is not in the manifest and what is not named as a bundle', async () => {
    await copyFile(here.at('logs', '0-9.json.gz'), here.at('logs', '30-39.json.gz'));
    await rename(here.at('blocks', '0-9.json.gz'), here.at('blocks', '0-09.json.gz'));
    expect(damage(await verify()).slice(0, 2)).toEqual([
      'blocks/0-09.json.gz is not named like a bundle, <first block>-<last block>.json.gz, and cannot be verified.',
      'logs/30-39.json.gz is not in the manifest: no bundle of logs has its range.',
    ]);
  });

  it('does not take the file of one range or kind for another', async () => {
    await copyFile(here.at('logs', '0-9.json.gz'), here.at('logs', '10-19.json.gz'));
    await copyFile(here.at('logs', '20-20.json.gz'), here.at('blocks', '20-20.json.gz'));
    expect(damage(await verify())).toEqual([
      expect.stringContaining('logs/10-19.json.gz is damaged'),
      expect.stringContaining('blocks/20-20.json.gz is damaged'),
    ]);
  });

  it('says that a newer version took the place of a file, and takes the newer one', async () => {
    const [first] = here.entries.get('logs') as [SealedEntry];
    const old = await readFile(here.at('logs', '0-9.json.gz'));
    await here.publish('logs', 0, 9, {
      version: 2,
      supersedes: first.sha256,
      records: Array.from({ length: 10 }, (_, i) => `[${i}]`),
    });
    expect((await verify()).code).toBe(0);
    const newer = await readFile(here.at('logs', '0-9.json.gz'));
    await writeFile(here.at('logs', '0-9.json.gz'), old);
    expect(damage(await verify())).toEqual([
      'logs/0-9.json.gz is version 1 of its bundle, and version 2 replaced it: download it again.',
    ]);
    await rm(here.at('logs', '0-9.json.gz'));
    await writeFile(here.at('logs', '0-9.v2.json.gz'), newer);
    expect((await verify()).code).toBe(0);
    await writeFile(here.at('logs', '0-9.v2.json.gz'), old);
    expect(damage(await verify())).toEqual([
      'logs/0-9.v2.json.gz has the name of version 2 but is version 1.',
    ]);
  });

  it('says what of sound files is not proved, and why', async () => {
    const notProved = [{ proof: 'receiptsRoot', because: 'the receipts of this chain are trusted' }] as const;
    await here.publish('logs', 30, 39, { notProved });
    await here.publish('logs', 40, 49, { notProved });
    const { code, out } = await verify();
    expect(code).toBe(0);
    expect(out).toMatch(
      /^In 2 files of logs of ethereum: not proved: receiptsRoot: the receipts of this chain are trusted\n8 valid files /,
    );
    const events = jsonLines(await verify('--json')).filter((event) => 'notProved' in event);
    expect(events).toMatchObject([
      { event: 'ok', notProved },
      { event: 'ok', notProved },
    ]);
  });

  it('looks inside: records, JSON and hashes must be those that a signed entry says', async () => {
    await here.publish('logs', 30, 31, { records: ['[]', '[]', '[]'] });
    await here.publish('logs', 40, 41, { records: ['[1}', '[]'] });
    await here.publish('logs', 50, 51, { rawBytes: 7 });
    await here.publish('blocks', 30, 31, { records: ['{"number":"0x1e"}', '{}'] });
    await here.publish('blocks', 40, 41, { lastHash: `0x${'ab'.repeat(32)}` });
    await here.publish('logs', 60, 61, { bytes: 7 });
    expect(damage(await verify('--deep'))).toEqual([
      expect.stringContaining(
        'blocks/30-31.json.gz does not hold what its entry says: record 1 is not block 30',
      ),
      'logs/30-31.json.gz holds 3 records, expected 2 for its range.',
      expect.stringContaining('blocks/40-41.json.gz does not hold what its entry says: its last block has'),
      expect.stringContaining('logs/40-41.json.gz does not hold what its entry says:'),
      expect.stringContaining('bytes of JSON, and its entry says 7.'),
      expect.stringMatching(/logs\/60-61.json.gz has \d+ bytes, and its entry says 7\.$/),
    ]);
    // Without it only sizes of what is inside, and that is said.
    const quick = await verify();
    expect(damage(quick)).toEqual([
      expect.stringMatching(/^logs\/50-51.json.gz announces \d+ bytes of JSON, and its entry says 7\.$/),
      expect.stringMatching(/logs\/60-61.json.gz has \d+ bytes, and its entry says 7\.$/),
    ]);
    expect(quick.out).toMatch(/^10 valid files \(.* kB, contents not verified without --deep\)/m);
  });

  it('says where a manifest was cut off, has a gap, is forked or was changed, and checks what came before', async () => {
    const file = here.at('logs.jsonl');
    const text = await readFile(file, 'utf8');
    const lines = text.trimEnd().split('\n');
    const [first, second] = here.entries.get('logs') as [SealedEntry, SealedEntry];
    const { hash: _, signature: __, ...facts } = second;
    const fork = here.signer.seal({ ...facts, previous: 'ab'.repeat(32) });
    for (const [changed, sentence] of [
      [text.slice(0, -30), 'Line 3 of logs.jsonl does not end with a line break: the manifest is truncated.'],
      [
        `${lines[0]}\n${lines[2]}\n`,
        'The manifest of logs of ethereum has a gap: entry 1 is missing before entry 2.',
      ],
      [
        `${lines[0]}\n${entryLine(fork)}\n${lines[2]}\n`,
        'The manifest of logs of ethereum is forked at entry 1: it follows another entry 0 than the one before it.',
      ],
      [
        text.replace(`"bytes":${second.bytes}`, `"bytes":${second.bytes + 1}`),
        second.bytes === first.bytes
          ? expect.any(String)
          : expect.stringContaining('Entry 1 of the manifest of logs of ethereum was changed'),
      ],
    ] as const) {
      await writeFile(file, changed);
      const said = damage(await verify());
      expect(said[0]).toEqual(sentence);
      expect(said).toContain(
        'logs/20-20.json.gz is not in the verified part of the manifest: no bundle of logs has its range.',
      );
      expect(said.join()).not.toContain('blocks/');
    }
  });

  it('takes no entry of a key that it does not know, and no manifest for a key', async () => {
    const stranger = await makeDownloads();
    await writeFile(here.at('packhouse-manifest-keys.json'), stranger.keys);
    await stranger.close();
    expect(damage(await verify())[0]).toContain(
      `is signed with key ${here.signer.keyId}, which is not among the keys given (${stranger.signer.keyId}).`,
    );
    const outcome = await verify('--key', 'logs.jsonl');
    expect(outcome).toMatchObject({
      code: 2,
      err: expect.stringContaining('holds no public keys of a manifest.'),
    });
  });

  it('says in one sentence what it cannot do without', async () => {
    const empty = await run(['verify', 'logs'], { cwd: here.directory });
    expect(empty).toMatchObject({
      code: 64,
      err: expect.stringContaining('There is no manifest.'),
    });
    const keyless = await run(['verify', 'logs', '--manifest', 'logs.jsonl'], { cwd: here.directory });
    expect(keyless).toMatchObject({ code: 64, err: expect.stringContaining('There is no public key') });
    const absent = await run(['verify', 'nowhere'], { cwd: here.directory });
    expect(absent).toMatchObject({
      code: 64,
      err: expect.stringContaining('nowhere does not exist.'),
    });
    const unread = await verify('--manifest', 'nowhere.jsonl');
    expect(unread).toMatchObject({ code: 64, err: expect.stringContaining('Cannot read nowhere.jsonl') });
  });

  it('fetches manifest and keys from an address, page after page, and never tells the key', async () => {
    const lines = (await readFile(here.at('logs.jsonl'), 'utf8')).trimEnd().split('\n');
    const secret = `ph_12345678_${'secretsecret'.padEnd(43, 's')}`;
    let broken = false;
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      if (url.pathname === '/.well-known/packhouse-manifest-keys.json') response.end(here.keys);
      else if (url.pathname !== `/ethereum/v1/${secret}/bundle-api/manifest`)
        response.writeHead(404).end('{}');
      else if (url.searchParams.get('kind') !== 'logs')
        response.writeHead(404).end('{"reason":"kind-not-enabled"}');
      else if (broken) response.writeHead(401).end('{"detail":"The API key is missing or not valid."}');
      else {
        const after = Number(url.searchParams.get('after') ?? -1);
        const link = after < 1 ? { link: `<manifest?kind=logs&after=${after + 1}>; rel="next"` } : {};
        response.writeHead(200, link).end(`${lines[after + 1]}\n`);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ethereum/v1/`;
    const check = (...args: string[]) =>
      run(['verify', 'logs', '--manifest', base, ...args], { cwd: here.directory });
    expect(await check('--api-key', secret)).toMatchObject({
      code: 0,
      out: expect.stringContaining('3 valid files '),
    });
    expect(await check()).toMatchObject({ code: 64, err: expect.stringContaining('--api-key') });
    const longer = await check('--api-key', `${secret}x`);
    expect(longer).toMatchObject({ code: 64, err: expect.stringContaining('incomplete') });
    expect(longer.err).not.toContain('secretsecret');
    broken = true;
    const refused = await check('--api-key', secret);
    expect(refused).toMatchObject({
      code: 69,
      err: expect.stringContaining('The API key is missing or not valid.'),
    });
    await new Promise((resolve) => server.close(resolve));
    const gone = await check('--api-key', secret);
    expect(gone.code).toBe(69);
    for (const { err } of [refused, gone]) expect(err).not.toContain('secretsecret');
  });
});
