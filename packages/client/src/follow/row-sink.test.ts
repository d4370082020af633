import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toSchema } from '@packhouse/rows';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Client, createClient } from '../client/create-client.js';
import type { FollowStep } from '../client/follow.js';
import { gatewayAddress } from '../fetch/gateway-address.js';
import { type FeedGateway, startFeedGateway } from '../testing/feed-gateway.js';
import type { FollowSink } from './follow-into.js';
import { createRowSink } from './row-sink.js';

let feed: FeedGateway;
let client: Client;
let folder: string;
beforeEach(async () => {
  feed = await startFeedGateway();
  client = createClient({ url: feed.gateway.url, apiKey: feed.gateway.apiKey });
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-row-sink-'));
});
afterEach(async () => {
  await client.close();
  await feed.gateway.close();
  await rm(folder, { recursive: true, force: true });
});

const schema = toSchema('logs');
const open = (
  commitEveryMs?: number,
  format: 'jsonl' | 'parquet' = 'jsonl',
  partition?: number,
): Promise<FollowSink> => {
  const { url, apiKey } = feed.gateway;
  const origin = {
    base: gatewayAddress(url, apiKey).base,
    kind: 'logs' as const,
    schema: schema.name,
    match: {},
  };
  const target = { format, folder: path.join(folder, 'rows'), partition };
  return createRowSink({ target, schema, origin, network: 'ethereum', commitEveryMs, partition });
};
/** Follows final blocks until a step fits. */
async function followUntil(sink: FollowSink, isLast: (step: FollowStep) => boolean): Promise<void> {
  for await (const step of client.follow({ kinds: ['logs'], from: 0, final: true, cursor: sink.cursor })) {
    await sink.write(step);
    if (isLast(step)) return;
  }
}
const reached =
  (block: number) =>
  (step: FollowStep): boolean =>
    step.step === 'blocks' && step.to >= block;
const isWaiting = ({ step }: FollowStep): boolean => step === 'waiting';
const files = async (): Promise<string[]> => (await readdir(path.join(folder, 'rows'))).sort();
async function rows(): Promise<string[]> {
  const texts = (await files()).map((name) => readFile(path.join(folder, 'rows', name), 'utf8'));
  const lines = (await Promise.all(texts))
    .join('')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => {
    const { block_number, block_hash, log_index } = JSON.parse(line) as Record<string, string>;
    return `${block_number}:${block_hash}:${log_index}`;
  });
}
const upTo = (block: number): string[] => feed.logs().filter((row) => Number(row.split(':')[0]) <= block);

it('has final blocks only, and the rows of a death are never there twice', async () => {
  feed.mine(60);
  for (let n = 0; n < 8; n += 1) feed.pack('logs', 5);
  const first = await open();
  await followUntil(first, reached(14));
  await first.close();
  expect(await rows()).toEqual(upTo(14));
  // A death: what was taken and not committed is gone, with its part of the cursor.
  const second = await open();
  await followUntil(second, reached(29));
  const third = await open();
  expect(third.cursor).toBe(first.cursor);
  feed.finalise(45);
  await followUntil(third, isWaiting);
  await third.close();
  expect(await rows()).toEqual(upTo(45));
  expect(third.rows).toBe(upTo(45).length);
  feed.reorganise(10);
  feed.finalise(58);
  const last = await open();
  await followUntil(last, isWaiting);
  await last.close();
  expect(await rows()).toEqual(upTo(58));
});

it('commits at the head seldom, since each commit is a file', async () => {
  feed.mine(20);
  feed.finalise(10);
  const seldom = await open();
  await followUntil(seldom, isWaiting);
  expect(await files()).toEqual([]);
  await seldom.close();
  expect(await files()).toEqual(['logs-0000000000-0000000010.jsonl']);
  feed.finalise(15);
  const often = await open(0);
  await followUntil(often, isWaiting);
  expect(await files()).toHaveLength(2);
  await often.close();
});

it('cuts files where partitions begin, and a death between two of them costs nothing twice', async () => {
  feed.mine(30);
  feed.pack('logs', 25);
  // It dies within the file, after the second partition began.
  const dies = await open(undefined, 'jsonl', 10);
  await followUntil(dies, reached(24));
  const sink = await open(undefined, 'jsonl', 10);
  expect([sink.cursor, sink.rows]).toEqual([null, upTo(19).length]);
  await followUntil(sink, reached(24));
  await sink.close();
  expect(sink.rows).toBe(upTo(24).length);
  const names = (await readdir(path.join(folder, 'rows'), { recursive: true })).filter((name) =>
    /jsonl$/.test(name),
  );
  expect(names.map((name) => path.basename(name)).sort()).toEqual([
    'logs-0000000000-0000000009.jsonl',
    'logs-0000000010-0000000019.jsonl',
    'logs-0000000020-0000000024.jsonl',
  ]);
});

it('names what was published again, and leaves its rows as they are', async () => {
  feed.mine(20);
  feed.pack('logs', 10);
  const sink = await open(0, 'parquet');
  await followUntil(sink, reached(9));
  const { rows: before } = sink;
  feed.repair('logs', 0);
  await followUntil(sink, ({ step }) => step === 'repaired');
  expect([sink.replaced, sink.rows]).toEqual([[{ from: 0, to: 9 }], before]);
  await sink.close();
  expect(await files()).toEqual(['logs-0000000000-0000000009.parquet']);
});

it('refuses steps that may be undone, other rows, and a folder that a pull filled', async () => {
  feed.mine(20);
  feed.finalise(12);
  const sink = await open();
  await followUntil(sink, reached(12));
  const [step] = [
    { step: 'undo' as const, block: 12, hash: '0x', to: { block: 11, hash: '0x' }, cursor: 'AA' },
  ];
  const origin = {
    base: gatewayAddress(feed.gateway.url, feed.gateway.apiKey).base,
    kinds: ['logs' as const],
    match: {},
  };
  await expect(sink.write({ ...step, origin })).rejects.toMatchObject({ code: 'FEED_INVALID' });
  await sink.close();
  const other = await open();
  await expect(
    (async () => {
      for await (const next of client.follow({
        kinds: ['logs'],
        from: 0,
        final: true,
        address: `0x${'1'.repeat(40)}`,
      })) {
        await other.write(next);
      }
    })(),
  ).rejects.toMatchObject({ code: 'TARGET_MISMATCH' });
  await other.close();
});
