import { readFile, writeFile } from 'node:fs/promises';
import { createVerifier, parseEntry, readPublicKeys, type SealedEntry } from '@packhouse/manifest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.js';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { isPartialCopy } from './pull-state.js';

/** Ten blocks without logs. */
const EMPTY = JSON.stringify(Array.from({ length: 10 }, () => []));
let gateway: TestGateway;
let folder: PullFolder;
beforeEach(async () => {
  gateway = await startTestGateway();
  // The second half is published first, as a backfill from the head does.
  for (const half of [500, 0]) {
    for (let start = half; start < half + 500; start += 10) gateway.publish(start, start + 9);
  }
  folder = await makePullFolder();
});
afterEach(async () => {
  await gateway.close();
  await folder.remove();
});

const sequences = async (): Promise<number[]> =>
  (await readFile(folder.at('_logs.jsonl'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line, at) => parseEntry(line, `Line ${at + 1}`).sequence);
const manifests = (): string[] => gateway.requests.filter((path) => path.includes('/manifest?'));
const isPartial = (): Promise<boolean> => isPartialCopy(folder.at('_logs.jsonl'));
const replace = (start: number): void => {
  const old = gateway.entries.find(({ from }) => from === start);
  gateway.publish(start, start + 9, { version: 2, supersedes: old?.sha256 ?? null }, EMPTY);
};

describe('the copy of a manifest', () => {
  it('has the entries of the range that is pulled, and those of a second range beside them', async () => {
    await folder.pull(gateway, { from: '100', to: '119' });
    expect(await sequences()).toEqual([60, 61]);
    expect(await isPartial()).toBe(true);
    gateway.requests.length = 0;
    await folder.pull(gateway, { from: '100', to: '119' });
    expect(gateway.requests).toEqual(['/ethereum/v1/bundle-api/manifest/head']);
    // In the order of the log, though it was asked for later; 110 to 119 is known.
    await folder.pull(gateway, { from: '-20', to: '-1' });
    await folder.pull(gateway, { from: '110', to: '129' });
    expect(await sequences()).toEqual([47, 48, 49, 60, 61, 62]);
    expect(manifests().map((path) => path.replace(/.*limit=\d+&/, ''))).toEqual([
      'after=-1&from=979&to=998',
      'after=-1&from=120&to=129',
    ]);
  });

  it('becomes the whole one when all blocks are pulled, or the whole is asked for', async () => {
    await folder.pull(gateway, { from: '100', to: '119' });
    await folder.pull(gateway, { from: '100', to: '119', wholeManifest: true });
    expect(await sequences()).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(await isPartial()).toBe(false);
    const verifier = createVerifier(readPublicKeys(gateway.keys, 'keys'));
    const text = await readFile(folder.at('_logs.jsonl'), 'utf8');
    for (const line of text.trimEnd().split('\n')) verifier.push(parseEntry(line, 'A line'));
    expect(verifier.logs()).toMatchObject([{ entries: 100, hash: gateway.entries.at(-1)?.hash }]);
  });

  it('knows of a repair within the range, and not of others', async () => {
    await folder.pull(gateway, { from: '100', to: '119' });
    replace(110);
    replace(300);
    const { files, downloaded } = await folder.pull(gateway, { from: '100', to: '119' });
    expect(downloaded).toBe(1);
    expect(files[1]).toMatchObject({ entry: { version: 2 } });
    expect(await sequences()).toEqual([60, 61, 100]);
  });

  it('is refused if an entry contradicts one that the copy has', async () => {
    await folder.pull(gateway, { from: '100', to: '119' });
    const { entries } = gateway;
    const forked = async (start: number, fields: Partial<SealedEntry>): Promise<void> => {
      gateway.entries = entries.slice(0, 50 + start / 10);
      gateway.publish(start, start + 9, fields);
      gateway.entries.push(...entries.slice(gateway.entries.length));
      await expect(folder.pull(gateway, { from: String(start), to: '119' })).rejects.toMatchObject({
        code: 'MANIFEST_INVALID',
        message: expect.stringContaining('is forked at entry'),
      });
    };
    await forked(90, { producer: 'another' });
    await folder.pull(gateway, { from: '70', to: '79' });
    await forked(80, { previous: 'ab'.repeat(32) });
  });

  it('that another program changed is named', async () => {
    await folder.pull(gateway, { from: '100', to: '119' });
    await writeFile(folder.at('_logs.jsonl'), '');
    await expect(folder.pull(gateway)).rejects.toMatchObject({
      code: 'MANIFEST_INVALID',
      message: expect.stringMatching(/_logs\.jsonl was changed: it has 0 entries, expected 2/),
    });
  });
});

it('logs without a folder ask for entries once, also two calls at a time', async () => {
  const client = createClient({ url: gateway.url, apiKey: gateway.apiKey });
  for (let start = 1_000; start < 1_040; start += 10) gateway.publish(start, start + 9, {}, EMPTY);
  const read = async (from: number, to: number): Promise<void> => {
    for await (const _ of client.logs({ from, to }));
  };
  try {
    await Promise.all([read(1_000, 1_019), read(1_010, 1_039)]);
    expect(manifests()).toHaveLength(2);
    gateway.requests.length = 0;
    await read(1_000, 1_039);
    expect(manifests()).toEqual([]);
  } finally {
    await client.close();
  }
});
