import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { filterItem } from '@packhouse/bundle';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { makeFilter, serveFilters } from '../testing/serve-filters.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { type Client, createClient, type LogsRequest } from './create-client.js';
import type { LogBatch } from './read-logs.js';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ABI = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256' },
    ],
  },
] as const;
const token = `0x${'aa'.repeat(20)}`;
const other = `0x${'bb'.repeat(20)}`;
const person = (digit: number): string => `0x${String(digit).padStart(40, '0')}`;
const word = (value: number): string => value.toString(16).padStart(64, '0');
const quantity = (value: number): string => `0x${value.toString(16)}`;

/** Each block has a transfer of `token` to person `block % 3`, and a log of `other` without topics. */
function toText(start: number, end: number): string {
  const blocks = Array.from({ length: end - start + 1 }, (_, at) => {
    const block = start + at;
    const place = (index: number) => ({
      removed: false,
      logIndex: quantity(index),
      transactionIndex: '0x0',
      transactionHash: `0x${word(block)}`,
      blockHash: `0x${word(block)}`,
      blockNumber: quantity(block),
    });
    const topics = [
      TRANSFER,
      `0x${word(9)}`,
      `0x${person(block % 3)
        .slice(2)
        .padStart(64, '0')}`,
    ];
    return [
      { ...place(0), address: token, data: `0x${word(block)}`, topics },
      { ...place(1), address: other, data: '0x', topics: [] },
    ];
  });
  return JSON.stringify(blocks);
}

let gateway: TestGateway;
let client: Client;
let temporary: string;
beforeEach(async () => {
  gateway = await startTestGateway();
  for (const start of [0, 10, 20]) gateway.publish(start, start + 9, {}, toText(start, start + 9));
  client = createClient({ url: gateway.url, apiKey: gateway.apiKey });
  temporary = await mkdtemp(path.join(tmpdir(), 'packhouse-test-'));
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await client.close();
  await gateway.close();
  await rm(temporary, { recursive: true });
});

const downloads = (): number => gateway.requests.filter((each) => each.includes('/files/logs')).length;
async function all(request: LogsRequest<typeof ABI | readonly []>): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  for await (const batch of client.logs(request)) batches.push(batch);
  return batches;
}
const toBlocks = (batches: readonly LogBatch[]): number[] =>
  batches.flatMap(({ logs }) => logs.map(({ blockNumber }) => blockNumber));

it('logs come ascending, of the range only, and leave nothing behind', async () => {
  const batches = await all({ from: 5, to: 14 });
  expect(toBlocks(batches)).toEqual(Array.from({ length: 20 }, (_, at) => 5 + Math.floor(at / 2)));
  expect(batches[0]?.logs[1]).toEqual({
    blockNumber: 5,
    blockHash: `0x${word(5)}`,
    blockTimestamp: null,
    transactionHash: `0x${word(5)}`,
    transactionIndex: 0,
    logIndex: 1,
    address: other,
    topics: [],
    data: '0x',
    event: null,
    args: null,
  });
  expect(downloads()).toBe(2);
  expect(readdirSync(temporary)).toEqual([]);
});

it('an ABI decodes them, types them, and counts what does not fit', async () => {
  const values: bigint[] = [];
  for await (const { logs, undecoded } of client.logs({ from: 7, to: 8, abi: ABI })) {
    expect(undecoded).toBe(2);
    for (const log of logs) {
      if (log.event === null) continue;
      expectTypeOf(log.event).toEqualTypeOf<'Transfer'>();
      values.push(log.args.value);
    }
  }
  expect(values).toEqual([7n, 8n]);
});

it.each<[LogsRequest<typeof ABI>, number[]]>([
  [{ address: other.toUpperCase().replace('X', 'x') }, [0, 1, 2, 3, 4, 5]],
  [{ address: [token, other], topics: ['Transfer'], abi: ABI }, [0, 1, 2, 3, 4, 5]],
  [{ topics: [null, null, person(1)] }, [1, 4]],
  [{ topics: ['Transfer(address,address,uint256)', [], [person(1), person(2)]] }, [1, 2, 4, 5]],
  [{ topics: [`0x${word(1)}`] }, []],
])('%j chooses among them', async (request, blocks) => {
  expect(toBlocks(await all({ ...request, from: 0, to: 5 }))).toEqual(blocks);
});

it.each<[LogsRequest<typeof ABI>, RegExp]>([
  [{ address: '0xaa' }, /"0xaa" is not an address/],
  [{ topics: ['Transfer'] }, /"Transfer" is no topic/],
  [{ topics: [null, 'x'] }, /"x" is not a topic/],
  [{ topics: [null, null, null, null, null] }, /at most 4 topics/],
  [{ cursor: 'x' }, /"x" is not a cursor/],
])('%j is refused before anything is asked', async (request, sentence) => {
  await expect(all(request)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(sentence),
  });
  expect(gateway.requests).toEqual([]);
});

describe('a cursor', () => {
  it('goes on behind its batch, to the end that was meant, whatever is published since', async () => {
    const request = { from: 5, to: '-5', address: token };
    const [first] = await all(request);
    gateway.publish(30, 39, {}, toText(30, 39));
    const rest = await all({ ...request, cursor: first?.cursor });
    expect(toBlocks(rest)).toEqual(Array.from({ length: 15 }, (_, at) => 10 + at));
    expect(await all({ ...request, cursor: rest.at(-1)?.cursor })).toEqual([]);
  });

  it('of a range without an end gets what is published later', async () => {
    const last = (await all({ from: 25, address: token })).at(-1)?.cursor;
    expect(await all({ cursor: last })).toEqual([]);
    gateway.publish(30, 39, {}, toText(30, 39));
    expect(toBlocks(await all({ cursor: last, address: token }))).toEqual([
      30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
    ]);
  });

  it('is told within a file of many logs', async () => {
    gateway.publish(30, 5_029, {}, toText(30, 5_029));
    const batches = await all({ from: 30 });
    expect(batches.map(({ cursor }) => cursor)).toEqual(['4126-', '5030-']);
    expect(toBlocks(batches)).toHaveLength(10_000);
    expect(toBlocks(await all({ cursor: '4126-' }))[0]).toBe(4_126);
  });

  it('is told by a file without such logs too', async () => {
    const batches = await all({ address: person(7) });
    expect(batches.map(({ logs, cursor }) => [logs.length, cursor])).toEqual([
      [0, '10-'],
      [0, '20-'],
      [0, '30-'],
    ]);
  });
});

it('files that hold no such log, by their filters, are not downloaded', async () => {
  const filters = new Map<number, Uint8Array>();
  for (const start of [30, 40, 50]) {
    const items = [start === 40 ? token : other].map((address) => filterItem(address));
    const times = Array.from({ length: 10 }, (_, at) => start + at + 1_000);
    const object = await makeFilter({ firstBlock: start, lastBlock: start + 9 }, items, times);
    const sha256 = createHash('sha256').update(object).digest('hex');
    const filter = { bytes: object.length, sha256 };
    gateway.publish(start, start + 9, { filter }, toText(start, start + 9));
    filters.set(start, object);
  }
  serveFilters(gateway, filters);
  const batches = await all({ from: 25, address: token });
  expect(toBlocks(batches)).toEqual([25, 26, 27, 28, 29, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49]);
  expect(batches.map(({ cursor }) => cursor)).toEqual(['30-', '40-', '50-', '60-']);
  expect(downloads()).toBe(2);
  // The times of blocks are in the signed filters, whether by them files are left out or not.
  const times = (some: LogBatch[]) => some.flatMap(({ logs }) => logs.map((log) => log.blockTimestamp));
  expect(times(batches).slice(4)).toEqual([null, 1040, 1041, 1042, 1043, 1044, 1045, 1046, 1047, 1048, 1049]);
  expect(times(await all({ from: 58 }))).toEqual([1058, 1058, 1059, 1059]);
  filters.set(50, await makeFilter({ firstBlock: 50, lastBlock: 59 }, [], new Array(10).fill(7)));
  expect(times(await all({ from: 58 }))).toEqual([null, null, null, null]);
});

it('an early end, and an abort, remove what is temporary', async () => {
  for await (const _ of client.logs({})) break;
  expect(readdirSync(temporary)).toEqual([]);
  const stop = new AbortController();
  const rest = client.logs({ signal: stop.signal });
  await rest.next();
  stop.abort(new Error('enough'));
  await expect(rest.next()).rejects.toThrow('enough');
  expect(readdirSync(temporary)).toEqual([]);
});

it('a folder keeps the files: the second time none is downloaded', async () => {
  const folder = path.join(temporary, 'kept');
  const first = toBlocks(await all({ folder, address: token }));
  expect(existsSync(path.join(folder, 'logs', '0-9.json.gz'))).toBe(true);
  expect(toBlocks(await all({ folder, address: token }))).toEqual(first);
  expect(downloads()).toBe(3);
});

it('a file that is not what was published ends them', async () => {
  gateway.files.set('10-19', Buffer.from('nonsense'));
  await expect(all({})).rejects.toMatchObject({
    code: 'BUNDLE_INVALID',
    data: { from: 10, to: 19 },
  });
});
