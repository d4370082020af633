import { readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { refuse, startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let gateway: TestGateway;
let folder: PullFolder;
beforeEach(async () => {
  gateway = await startTestGateway();
  for (let start = 0; start < 300; start += 10) gateway.publish(start, start + 9);
  folder = await makePullFolder();
});
afterEach(async () => {
  await gateway.close();
  await folder.remove();
});

const names = async (): Promise<string[]> => (await readdir(folder.at('logs'))).sort();
const isSound = async (name: string): Promise<boolean> =>
  (await readFile(folder.at('logs', `${name}.json.gz`))).equals(gateway.files.get(name) as Buffer);
const asked = (part: string): number => gateway.requests.filter((path) => path.includes(part)).length;

describe('a mirror', () => {
  it('has the files, their manifest, its head and the keys, and a second run asks once', async () => {
    const first = await folder.pull(gateway);
    expect(first).toMatchObject({ downloaded: 30, waits: [] });
    expect(first.files.map(({ range }) => range.firstBlock)).toEqual(
      Array.from({ length: 30 }, (_, i) => i * 10),
    );
    expect(first.bytes).toBe(gateway.entries.reduce((sum, { bytes }) => sum + bytes, 0));
    for (const name of gateway.files.keys()) expect(await isSound(name)).toBe(true);
    expect(await names()).toHaveLength(30);
    expect((await readdir(folder.path)).sort()).toEqual([
      '_logs.jsonl',
      '_manifest-head.jsonl',
      '_packhouse-manifest-keys.json',
      '_packhouse-pull.done',
      '_packhouse-pull.json',
      'logs',
    ]);
    gateway.requests.length = 0;
    expect(await folder.pull(gateway)).toMatchObject({ downloaded: 0, bytes: 0 });
    expect(gateway.requests).toEqual(['/ethereum/v1/bundle-api/manifest/head']);
  });

  it.each([
    [{ from: '25', to: '44' }, ['20-29', '30-39', '40-49']],
    [{ from: '290' }, ['290-299']],
    [{ from: '-15' }, ['280-289', '290-299']],
    [{ from: '100', to: '+10' }, ['100-109']],
    [{ to: '-290' }, ['0-9']],
    [{ from: '2020-01-01', to: '2020-01-01T00:04Z' }, ['0-9', '10-19']],
  ])('holds the files of a part: %j', async (range, expected) => {
    await folder.pull(gateway, range);
    expect(await names()).toEqual(expected.map((name) => `${name}.json.gz`).sort());
  });

  it('downloads what was removed, cut off or added since, and nothing else', async () => {
    await folder.pull(gateway);
    await rm(folder.at('logs', '10-19.json.gz'));
    await truncate(folder.at('logs', '20-29.json.gz'), 5);
    gateway.publish(300, 309);
    const second = await folder.pull(gateway);
    expect(
      second.files.flatMap(({ state, range }) => (state === 'downloaded' ? [range.firstBlock] : [])),
    ).toEqual([10, 20, 300]);
    expect(await isSound('20-29')).toBe(true);
  });

  it('takes a whole file without a mark for what it is, after reading it', async () => {
    await folder.pull(gateway);
    await rm(folder.at('_packhouse-pull.done'));
    await writeFile(folder.at('logs', '0-9.json.gz'), 'x'.repeat(gateway.entries[0]?.bytes ?? 0));
    expect(await folder.pull(gateway)).toMatchObject({ downloaded: 1 });
    expect(await isSound('0-9')).toBe(true);
  });

  it('heals a file that was changed since, though its size is the same; with check, any', async () => {
    await folder.pull(gateway);
    const file = folder.at('logs', '20-29.json.gz');
    const flip = async (): Promise<void> => {
      const bytes = await readFile(file);
      bytes[9] = (bytes[9] as number) ^ 1;
      await writeFile(file, bytes);
    };
    const { mtime } = await stat(file);
    await flip();
    await utimes(file, mtime, mtime);
    expect(await folder.pull(gateway)).toMatchObject({ downloaded: 1 });
    expect(await isSound('20-29')).toBe(true);
    // A disk that loses bits changes no time: the mark is that of the damaged file.
    await flip();
    const marks = await readFile(folder.at('_packhouse-pull.done'));
    marks.writeDoubleLE((await stat(file)).ctimeMs, 2 * 8);
    await writeFile(folder.at('_packhouse-pull.done'), marks);
    expect(await folder.pull(gateway)).toMatchObject({ downloaded: 0 });
    expect(await folder.pull(gateway, { check: true })).toMatchObject({ downloaded: 1 });
    expect(await isSound('20-29')).toBe(true);
  });

  it('forgets what a killed run wrote behind the checked part of the manifest', async () => {
    await folder.pull(gateway);
    const text = await readFile(folder.at('_logs.jsonl'), 'utf8');
    await writeFile(folder.at('_logs.jsonl'), `${text}{"format":"packho`);
    gateway.publish(300, 309);
    await folder.pull(gateway);
    expect((await readFile(folder.at('_logs.jsonl'), 'utf8')).split('\n')).toHaveLength(32);
  });

  it('asks for dates once', async () => {
    await folder.pull(gateway, { to: '2020-01-01T00:04Z' });
    expect(gateway.requests.filter((path) => path === '/ethereum/v1').length).toBeLessThan(13);
    gateway.requests.length = 0;
    await folder.pull(gateway, { to: '2020-01-01T00:04Z' });
    expect(gateway.requests).toHaveLength(1);
    await expect(folder.pull(gateway, { to: '1999-01-01' })).rejects.toMatchObject({
      code: 'RANGE_INVALID',
      message: expect.stringContaining('no block before 1999-01-01T00:00:00.000Z is published'),
    });
    await expect(folder.pull(gateway, { to: '2030-01-01' })).rejects.toMatchObject({
      code: 'RANGE_BEYOND_HEAD',
      message: expect.stringContaining('block 999, the newest, is of 2020-01-01T03:19:48.000Z'),
    });
  });
});

describe('a published bundle that is replaced', () => {
  const replace = (): void => {
    const [, old] = gateway.entries;
    gateway.publish(
      10,
      19,
      { version: 2, supersedes: old?.sha256 ?? null },
      '[[],[],[],[],[],[],[],[],[],[]]',
    );
  };

  it('replaces the file in the folder', async () => {
    await folder.pull(gateway);
    replace();
    expect(await folder.pull(gateway)).toMatchObject({ downloaded: 1 });
    expect(await isSound('10-19')).toBe(true);
  });

  it('while the pull is under way is downloaded as it is now', async () => {
    gateway.fault = (path) => {
      if (path.includes('/files/logs/10-19') && gateway.entries.length === 30) replace();
      return false;
    };
    const { files } = await folder.pull(gateway);
    expect(files[1]).toMatchObject({ state: 'downloaded', entry: { version: 2 } });
    expect(await isSound('10-19')).toBe(true);
  });
});

describe('wrong bytes', () => {
  it.each([
    ['other', (bytes: Buffer) => Buffer.alloc(bytes.length), 'its sha256 is'],
    ['too many', (bytes: Buffer) => Buffer.concat([bytes, bytes]), 'it is longer than'],
    ['too few', (bytes: Buffer) => bytes.subarray(1), 'bytes long, expected'],
  ])('%s: asked once more, then named and kept as .damaged', async (_, change, why) => {
    gateway.files.set('50-59', change(gateway.files.get('50-59') as Buffer));
    const { files, downloaded } = await folder.pull(gateway);
    expect(downloaded).toBe(29);
    expect(files.find(({ state }) => state === 'faulty')).toMatchObject({
      range: { firstBlock: 50, lastBlock: 59 },
      fault: expect.stringContaining(why),
    });
    expect(asked('/files/logs/50-59')).toBe(2);
    expect(await names()).toContain('50-59.json.gz.damaged');
    expect(await names()).not.toContain('50-59.json.gz');
  });

  it('once only are replaced by the right ones', async () => {
    gateway.fault = (path, response) => {
      if (!path.includes('/files/logs/50-59') || asked('/files/logs/50-59') > 1) return false;
      response.end('nonsense');
      return true;
    };
    expect(await folder.pull(gateway)).toMatchObject({ downloaded: 30 });
    expect(await names()).toHaveLength(30);
  });

  it('a file that is gone is named, and the others are downloaded', async () => {
    gateway.files.delete('50-59');
    const { files, downloaded } = await folder.pull(gateway);
    expect(downloaded).toBe(29);
    expect(files[5]).toMatchObject({
      state: 'faulty',
      fault: expect.stringContaining('There is no such file'),
    });
  });
});

describe('what is not published', () => {
  it('is refused with the reason, and left out with partial', async () => {
    await expect(folder.pull(gateway, { from: '290', to: '305' })).rejects.toMatchObject({
      code: 'RANGE_INCOMPLETE',
      message: 'Not published of logs are the blocks 300-305 (not-requested: a range that orders it).',
    });
    expect(await folder.pull(gateway, { from: '290', to: '305', partial: true })).toMatchObject({
      downloaded: 1,
    });
  });

  it('or behind the end of the plan likewise', async () => {
    gateway.maxBlock = 25;
    await expect(folder.pull(gateway)).rejects.toMatchObject({
      code: 'PLAN_LIMIT',
      hint: expect.stringContaining('up to block 25'),
    });
    // The file of 20 to 29 reaches beyond it: none of its blocks is there.
    expect(await folder.pull(gateway, { partial: true })).toMatchObject({
      downloaded: 2,
      plan: { range: { firstBlock: 0, lastBlock: 19 }, limitedTo: 25 },
    });
    await expect(folder.pull(gateway, { from: '21', partial: true })).rejects.toMatchObject({
      code: 'PLAN_LIMIT',
      message: expect.stringContaining('the file 20-29 reaches beyond it'),
    });
    await expect(folder.pull(gateway, { from: '30', partial: true })).rejects.toMatchObject({
      code: 'PLAN_LIMIT',
    });
  });
});

it('files that the disk has no space for are refused before the first is downloaded', async () => {
  gateway.publish(300, 309, { bytes: 1e15 });
  await expect(folder.pull(gateway)).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringMatching(
      /The files have 1000000000\d+ bytes, and the disk of .* has \d+ free, of which 16777216 stay/,
    ),
  });
  expect(asked('/files/')).toBe(0);
});

describe('a refusal', () => {
  it('of the key half way ends the pull, and the next one continues', async () => {
    let served = 0;
    gateway.fault = (path, response) => {
      served += path.includes('/files/') ? 1 : 0;
      return (
        served > 12 && refuse(response, 403, { reason: 'forbidden', detail: 'This API key was revoked.' })
      );
    };
    await expect(folder.pull(gateway)).rejects.toMatchObject({
      code: 'API_KEY_REFUSED',
      message: expect.stringContaining('This API key was revoked'),
    });
    gateway.fault = null;
    // Of the twelve, what was under way at the refusal may not have come whole.
    const kept = (await names()).length;
    expect(kept).toBeLessThanOrEqual(12);
    const { downloaded } = await folder.pull(gateway);
    expect(downloaded).toBe(30 - kept);
    expect(await names()).toHaveLength(30);
  });

  it('because of too many requests is waited for, however often it comes', async () => {
    let left = 40;
    gateway.fault = (path, response) =>
      path.includes('/files/logs/50-59') &&
      left-- > 0 &&
      refuse(
        response,
        429,
        { detail: 'The plan includes 5 units a second; try again in 7 s.' },
        { 'retry-after': '7' },
      );
    const { waits, downloaded, backs } = await folder.pull(gateway);
    expect([downloaded, backs]).toEqual([30, 0]);
    expect(waits).toHaveLength(40);
    expect(waits[0]).toMatchObject({
      rateLimited: true,
      seconds: 7,
      reason: expect.stringContaining('5 units a second'),
    });
  });
});

it('connections that break and 5xx are tried again, within bounds', async () => {
  gateway.fault = (path, response) => {
    if (!path.includes('/files/logs/50-59')) return false;
    if (asked('/files/logs/50-59') === 1) response.destroy();
    else if (asked('/files/logs/50-59') === 2) {
      const file = gateway.files.get('50-59') as Buffer;
      response
        .writeHead(200, { 'content-length': file.length })
        .write(file.subarray(0, 9), () => response.destroy());
    } else return asked('/files/logs/50-59') < 5 && refuse(response, 503, {}, { 'retry-after': '1' });
    return true;
  };
  const { downloaded, waits, backs } = await folder.pull(gateway);
  expect([downloaded, backs]).toEqual([30, 1]);
  expect(waits.map(({ rateLimited }) => rateLimited)).toEqual([false, false, false, false]);
  gateway.publish(300, 309);
  gateway.fault = (path, response) => path.includes('/300-309') && refuse(response, 500);
  await expect(folder.pull(gateway)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
  expect(asked('/300-309')).toBe(6);
});
