import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { type Client, createClient } from './create-client.js';

let gateway: TestGateway;
let folder: PullFolder;
let client: Client;
beforeEach(async () => {
  gateway = await startTestGateway();
  // Published out of order, as a backfill does.
  for (const start of [100, 110, 120, 0, 10, 20]) gateway.publish(start, start + 9);
  folder = await makePullFolder();
  client = createClient({ url: gateway.url, apiKey: gateway.apiKey });
});
afterEach(async () => {
  await client.close();
  await gateway.close();
  await folder.remove();
});

describe('files', () => {
  it('come ascending, each as soon as it is in the folder', async () => {
    const starts: number[] = [];
    for await (const file of client.files({ kind: 'logs', folder: folder.path, partial: true })) {
      starts.push(file.from);
      expect((await readFile(file.path)).length).toBe(file.entry.bytes);
    }
    expect(starts).toEqual([0, 10, 20, 100, 110, 120]);
  });

  it('end at one that is not what was published', async () => {
    gateway.files.set('10-19', Buffer.from('nonsense'));
    const seen: number[] = [];
    const all = async (): Promise<void> => {
      for await (const { from } of client.files({ kind: 'logs', to: 29, folder: folder.path })) {
        seen.push(from);
      }
    };
    await expect(all()).rejects.toMatchObject({
      code: 'BUNDLE_INVALID',
      data: { from: 10, to: 19 },
    });
    expect(seen).toEqual([0]);
  });

  it('are no more downloaded after a break or an abort', async () => {
    for await (const _ of client.files({ kind: 'logs', to: 29, folder: folder.path })) break;
    const stop = new AbortController();
    const rest = client.files({ kind: 'logs', from: 100, folder: folder.path, signal: stop.signal });
    await rest.next();
    stop.abort(new Error('enough'));
    await expect(rest.next()).rejects.toThrow('enough');
    const before = gateway.requests.length;
    await client.quote({ kind: 'logs', from: 0, to: 9 });
    expect(gateway.requests.slice(before).some((path) => path.includes('/files/logs'))).toBe(false);
  });
});

describe('a quote', () => {
  it('counts files and bytes, and names what is missing', async () => {
    const bytes = gateway.entries.reduce((sum, entry) => sum + entry.bytes, 0);
    expect(await client.quote({ kind: 'logs' })).toMatchObject({
      from: 0,
      to: 129,
      files: 6,
      bytes,
      limitedTo: null,
      missing: [{ from: 30, to: 99, reason: 'not-requested' }],
    });
    expect(await client.quote({ kind: 'logs', from: 15, to: '+10' })).toMatchObject({
      from: 15,
      to: 24,
      files: 2,
      missing: [],
    });
    expect(gateway.requests.some((path) => path.includes('/files/logs'))).toBe(false);
  });

  it('counts a bundle once that was published twice', async () => {
    gateway.publish(10, 19, { version: 2, supersedes: gateway.entries[4]?.sha256 ?? null }, '[]');
    const { files } = await client.quote({ kind: 'logs', from: 0, to: 29 });
    expect(files).toBe(3);
  });
});

it('a quote tells where the plan ends', async () => {
  gateway.maxBlock = 25;
  expect(await client.quote({ kind: 'logs', from: 0, to: 29 })).toMatchObject({
    files: 2,
    limitedTo: 25,
    missing: [],
  });
  // The files that it sees are not all: a pull without `to` is cut.
  expect(await client.quote({ kind: 'logs' })).toMatchObject({ files: 2, limitedTo: 25 });
});

it('what is no address or no key is refused at once', () => {
  const make =
    (url: string, apiKey = gateway.apiKey) =>
    () =>
      createClient({ url, apiKey });
  for (const url of [
    'ethereum',
    'ftp://host/ethereum',
    `${gateway.url}?kind=logs`,
    'https://a:b@host/ethereum',
  ]) {
    expect(make(url)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  }
  expect(make(gateway.url, 'secret')).toThrow(/not a whole key/);
});
