import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Client, createClient } from '../client/create-client.js';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { publishBundle, serveFilters } from '../testing/serve-filters.js';
import { sendFile, startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { type FilePart, packParts, toRanges, unpackParts } from './file-parts.js';

const [token, other] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`];
const BLOCKS = 40;
/** Text that deflates to half of it: a block is a part of 20 KB. */
const noise = (n: number): string =>
  createHash('shake256', { outputLength: 20_000 }).update(`${n}`).digest('hex');
const toLog = (block: number, address: string, data = '0x') => ({
  removed: false,
  logIndex: '0x0',
  transactionIndex: '0x0',
  transactionHash: `0x${'3'.repeat(64)}`,
  blockHash: `0x${'4'.repeat(64)}`,
  blockNumber: `0x${block.toString(16)}`,
  address,
  data,
  topics: [],
});
const toRecords = (blocks: readonly number[]) =>
  Array.from({ length: BLOCKS }, (_, n) => [
    toLog(100 + n, other, `0x${noise(n)}`),
    ...(blocks.includes(100 + n) ? [toLog(100 + n, token)] : []),
  ]);

let gateway: TestGateway;
let folder: PullFolder;
let client: Client;
let filters: Map<number, Uint8Array>;
/** Ranges of files that were asked for. */
let ranges: (string | undefined)[];
beforeEach(async () => {
  gateway = await startTestGateway();
  folder = await makePullFolder();
  filters = new Map();
  ranges = [];
  serveFilters(gateway, filters);
  const withFilters = gateway.fault;
  gateway.fault = (path, response, request) => {
    if (path.includes('/files/')) ranges.push(request.headers.range);
    return withFilters?.(path, response, request) ?? false;
  };
  client = createClient({ url: gateway.url, apiKey: gateway.apiKey });
});
afterEach(async () => {
  await client.close();
  await gateway.close();
  await folder.remove();
});

async function pull(
  more: { folder?: string; from?: number; to?: number } = {},
): Promise<(number | null)[][]> {
  const rows: (number | null)[][] = [];
  for await (const { logs } of client.logs({ address: token, ...more })) {
    rows.push(...logs.map(({ blockNumber, blockTimestamp }) => [blockNumber, blockTimestamp]));
  }
  return rows;
}
const rowsOf = (...blocks: number[]): number[][] => blocks.map((block) => [block, 1_000 + block]);
/** Bytes asked for in ranges. */
const asked = (): number =>
  ranges.reduce((sum, range) => {
    const [first, last] = (range ?? '').slice(6).split('-').map(Number) as [number, number];
    return sum + last - first + 1;
  }, 0);

it('of a file only the parts that can hold an address are loaded, near ones together', async () => {
  const file = await publishBundle(gateway, filters, 100, toRecords([103, 104, 106, 130]));
  expect(await pull()).toEqual(rowsOf(103, 104, 106, 130));
  expect(ranges).toHaveLength(2);
  expect(asked()).toBeLessThan((file.length * 6) / BLOCKS);
  const quote = await client.quote({ kind: 'logs', from: 100, to: 139, address: token });
  expect(quote).toMatchObject({ files: 1, bytes: asked() });
  // And of those only what is asked for.
  ranges.length = 0;
  expect(await pull({ from: 105, to: 120 })).toEqual(rowsOf(106));
  expect(asked()).toBeLessThan((file.length * 1.5) / BLOCKS);
});

it('a file of which most is wanted is loaded whole, and one that stays in a folder', async () => {
  const all = Array.from({ length: 32 }, (_, n) => 100 + n);
  await publishBundle(gateway, filters, 100, toRecords(all));
  expect(await pull({ to: 139 })).toEqual(rowsOf(...all));
  expect(ranges).toEqual([undefined]);
  await publishBundle(gateway, filters, 300, [...toRecords([]), [toLog(340, token)]]);
  ranges.length = 0;
  expect(await pull({ from: 300, folder: folder.path })).toEqual(rowsOf(340));
  expect(ranges).toEqual([undefined]);
});

it('a server that ignores Range sends the file once for all its parts', async () => {
  await publishBundle(gateway, filters, 100, toRecords([103, 118, 130]));
  gateway.ranges = false;
  expect(await pull()).toEqual(rowsOf(103, 118, 130));
  expect(ranges).toHaveLength(1);
});

it('the store that a gateway leads to is asked for the range, without the key', async () => {
  const file = await publishBundle(gateway, filters, 100, toRecords([103, 130]));
  const before = gateway.fault;
  const keys: unknown[] = [];
  gateway.fault = (path, response, request) => {
    if (path.startsWith('/store')) {
      keys.push(request.headers.authorization);
      sendFile(file, request.headers.range, response);
      return true;
    }
    if (!path.includes('/files/')) return before?.(path, response, request) ?? false;
    response.writeHead(302, { location: '/store' }).end();
    return true;
  };
  expect(await pull()).toEqual(rowsOf(103, 130));
  expect(keys).toEqual([undefined, undefined]);
});

it('a part with another SHA-256 is never read', async () => {
  const file = await publishBundle(gateway, filters, 100, toRecords([103, 130]));
  await pull();
  const changed = Buffer.from(file);
  // The last byte of block 130.
  const at = Number(/-(\d+)$/.exec(ranges[1] as string)?.[1]);
  changed[at] = (changed[at] as number) ^ 1;
  gateway.files.set('100-139', changed);
  const problem = { code: 'BUNDLE_INVALID', data: { from: 100, to: 139 } };
  await expect(pull()).rejects.toMatchObject(problem);
  await expect(pull()).rejects.toThrow(/sends blocks 130-130 of .* other than the signed filter says/);
  gateway.files.set('100-139', file.subarray(0, 200_000));
  await expect(pull()).rejects.toMatchObject(problem);
});

it('a file that was replaced meanwhile is loaded as it is now', async () => {
  await publishBundle(gateway, filters, 100, toRecords([103, 130]));
  await pull();
  const supersedes = gateway.entries[0]?.sha256 ?? null;
  const before = gateway.fault;
  let replaced = false;
  gateway.fault = (path, response, request) => {
    if (path.includes('/files/') && !replaced) {
      replaced = true;
      const text = JSON.stringify(toRecords([131]));
      gateway.publish(100, 139, { version: 2, supersedes }, text);
    }
    return before?.(path, response, request) ?? false;
  };
  expect((await pull()).map(([block]) => block)).toEqual([131]);
});

it('parts are packed and unpacked, and merged only if that is cheaper than a request', () => {
  const part = (start: number): FilePart => ({
    firstBlock: start,
    lastBlock: start + 2 ** 40,
    start,
    byteLength: 100,
    rawLength: 2 ** 34,
    crc32: 2 ** 32 - 1,
    sha256: Buffer.alloc(32, start),
  });
  const parts = [part(16), part(5_000), part(100_000)];
  expect(unpackParts(packParts(parts))).toEqual(parts);
  expect(toRanges(parts)).toEqual([
    { start: 16, end: 5_099 },
    { start: 100_000, end: 100_099 },
  ]);
});
