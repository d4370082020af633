import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { runAudit } from '@packhouse/audit';
import type { BundleRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answer, ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const PATH = '/ethereum/files/logs/0-9.json.gz';
const OBJECT = 'ethereum/logs/0-9.json.gz';
const WAIT = { timeout: 60_000 };

let at: TestGateway;
let key: string;
let file: Buffer;

/** No file fits into memory; the store gives pieces of 100 bytes. */
async function start(
  options: Parameters<typeof startTestGateway>[0] = { fileCacheBytes: 100 },
): Promise<void> {
  at = await startTestGateway(options);
  ({ key } = await at.makeKey());
  await at.stage(0, 9);
  file = (await at.publish(0, 9)).get('logs') as Buffer;
  const { objectStore } = at;
  const stream = objectStore.stream.bind(objectStore);
  objectStore.stream = async (name, { range, signal } = {}) => {
    const opened = await stream(name, { ...(range && { range }), ...(signal && { signal }) });
    return Readable.from(pieces(opened), { objectMode: false });
  };
}

async function* pieces(source: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    for (let from = 0; from < chunk.length; from += 100) yield chunk.subarray(from, from + 100);
  }
}

const get = (headers: Record<string, string> = {}, method = 'GET', path = PATH): Promise<Answer> =>
  ask(at.url, path, { method, headers: { authorization: `Bearer ${key}`, ...headers } });

async function put(body: Buffer, name = OBJECT): Promise<void> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  await at.objectStore.put(name, body, { sha256, contentType: 'application/gzip', metadata: {} });
}

function flipped(position: number): Buffer {
  const bytes = Buffer.from(file);
  bytes[position] = (bytes[position] as number) ^ 0x10;
  return bytes;
}

const alarm = async (): Promise<string[]> => (await at.database.alarms.list()).map(({ message }) => message);

const refused = expect.objectContaining({ status: 503, reason: 'file-damaged', retryAfter: 60 });

async function audit(): Promise<void> {
  const { context, database, objectStore } = at;
  const range = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };
  const request = { networks: ['ethereum'], kinds: ['logs'] as const, range };
  await runAudit(
    { context, database, objectStore },
    { ...request, sample: 1, seed: '', objects: false },
    {},
    context.signal,
  );
}

/** The first look for superseded bundles drops the rows in memory, since it knows no earlier count. */
async function untilLookedTwice(): Promise<void> {
  const { bundles } = at.database;
  const { supersededCount } = bundles;
  let looks = 0;
  bundles.supersededCount = () => {
    looks += 1;
    return supersededCount();
  };
  // No look begins before the one before it has ended.
  await expect.poll(() => looks, WAIT).toBeGreaterThan(1);
  bundles.supersededCount = supersededCount;
}

afterEach(() => at.close());

describe('a damaged file that is streamed', () => {
  beforeEach(() => start());

  it.each([
    ['a byte at its start', () => flipped(40)],
    ['its last byte', () => flipped(file.length - 1)],
    ['its end is missing', () => file.subarray(0, file.length - 1)],
    ['half of it is missing', () => file.subarray(0, file.length >> 1)],
  ])('is never a complete answer: %s', async (_, damage) => {
    expect((await get()).body.equals(file)).toBe(true);
    await put(damage());
    await expect(get()).rejects.toThrow();
    for (const method of ['GET', 'HEAD']) expect((await get({}, method)).status).toBe(503);
    const again = await get({ range: 'bytes=0-3' });
    expect(again.json()).toEqual(refused);
    expect(again.headers['retry-after']).toBe('60');
  });

  it('raises the alarm of audits once, with its metric, and is refused until the alarm is cleared', async () => {
    await put(flipped(40));
    await Promise.all([1, 2, 3].map(() => get().catch(() => null)));
    await expect
      .poll(alarm, WAIT)
      .toEqual([
        expect.stringMatching(/^1 published bundle of ethereum is damaged: logs 0-9 \(sha256\)\. Run /),
      ]);
    expect(await at.context.metrics.render()).toContain(
      'packhouse_gateway_damaged_files_total{network="ethereum",kind="logs"} 1',
    );
    expect(at.log.filter((line) => line.includes('damaged file not served'))).toHaveLength(1);
    expect((await get()).json()).toEqual(refused);

    await put(file);
    expect((await get()).json()).toEqual(refused);
    await at.database.network('ethereum').alarms.clear('BUNDLE_DAMAGED', 'operator');
    await vi.waitFor(async () => expect((await get()).status).toBe(200), WAIT);
  });

  it('is served again at once when it was repaired, while the alarm is still open', async () => {
    await put(flipped(40));
    await expect(get()).rejects.toThrow();
    await expect.poll(alarm, WAIT).toHaveLength(1);
    const { bundles } = at.database.network('ethereum');
    const { version: _, publishedAt: __, ...row } = (await bundles.covering('logs', 0)) as BundleRow;
    const objectKey = OBJECT.replace('.json.gz', '.v2.json.gz');
    await put(file, objectKey);
    await bundles.supersede({ ...row, objectKey }, { replaces: row.sha256, reason: 'test' });
    await vi.waitFor(async () => expect((await get()).body.equals(file)).toBe(true), WAIT);
    expect(await alarm()).toHaveLength(1);
  });

  it('is refused by a gateway that learns of it from the alarm of an audit', async () => {
    await put(flipped(40));
    await audit();
    await vi.waitFor(async () => expect((await get({}, 'HEAD')).status).toBe(503), WAIT);
    expect((await get()).json()).toEqual(refused);
  });

  it('is served where its object only goes on behind it', async () => {
    await put(Buffer.concat([file, Buffer.from('more')]));
    expect((await get()).body.equals(file)).toBe(true);
  });

  it('in part is checked by the fragments that the part touches', async () => {
    const { fragments } = (await at.database.network('ethereum').bundles.covering('logs', 0)) as BundleRow;
    const second = 16 + (fragments[0]?.byteLength as number) + 6;
    const size = fragments[1]?.byteLength as number;
    await put(flipped(second + (size >> 1)));
    const sound = await get({ range: `bytes=0-${second - 1}` });
    expect(sound.status).toBe(206);
    expect(sound.body.equals(file.subarray(0, second))).toBe(true);
    // The part itself is as it should be, but the fragment that holds it is not; it is known before the head is sent.
    expect((await get({ range: `bytes=${second}-${second + 3}` })).json()).toEqual(refused);
    expect((await get({ range: 'bytes=0-3' })).json()).toEqual(refused);
    await expect.poll(alarm, WAIT).toEqual([expect.stringContaining('logs 0-9 (fragmentTable)')]);
  });

  it('in part is refused for a moment where it was superseded since its row was read', async () => {
    await untilLookedTwice();
    expect((await get()).status).toBe(200);
    const { bundles } = at.database.network('ethereum');
    const { covering } = bundles;
    bundles.covering = async (...args) => ({
      ...((await covering(...args)) as BundleRow),
      objectKey: OBJECT.replace('.json.gz', '.v2.json.gz'),
    });
    expect((await get({ range: 'bytes=0-3' })).json()).toMatchObject({
      reason: 'unavailable',
      retryAfter: 1,
    });
    bundles.covering = covering;
    expect((await get({ range: 'bytes=0-3' })).body.equals(file.subarray(0, 4))).toBe(true);
  });

  it('in a large part breaks off', async () => {
    await put(flipped(file.length - 30));
    await expect(get({ range: 'bytes=5-' })).rejects.toThrow();
    expect((await get()).json()).toEqual(refused);
  });

  it('gives no file of a block that is in the damage, and those of all others', async () => {
    await put(flipped(40));
    const block = (number: number) => get({}, 'GET', `/ethereum/files/logs/${number}-${number}.json.gz`);
    expect((await block(5)).status).toBe(200);
    await at.database.network('ethereum').staging.reclaim();
    expect((await block(0)).json()).toEqual(refused);
  });
});

it('a file that is gone is refused, also its head, until it is there again', async () => {
  await start({});
  await at.objectStore.delete(OBJECT);
  expect((await get()).json()).toEqual(refused);
  expect((await get({}, 'HEAD')).status).toBe(503);
  await expect.poll(alarm, WAIT).toEqual([expect.stringContaining('logs 0-9 (missing)')]);
  await put(file);
  expect((await get({}, 'HEAD')).status).toBe(200);
  expect((await get()).body.equals(file)).toBe(true);
});

describe('a store that hangs', () => {
  const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
  const unavailable = expect.objectContaining({ status: 503, reason: 'unavailable', retryAfter: 5 });

  it.each([
    ['a file in memory', 1_000_000, {}],
    ['a streamed one', 100, {}],
    ['a part of a streamed one', 100, { range: 'bytes=0-3' }],
  ] as [string, number, Record<string, string>][])(
    'is given up after a while: %s',
    async (_, fileCacheBytes, headers) => {
      await start({ fileCacheBytes, storeTimeoutMs: 200 });
      at.objectStore.read = never;
      at.objectStore.stream = never;
      const answer = await get(headers);
      expect(answer.json()).toEqual(unavailable);
      expect(answer.headers['retry-after']).toBe('5');
      expect(await alarm()).toEqual([]);
    },
  );

  it('in the middle of a file breaks the answer off, and the file is not damaged', async () => {
    await start({ fileCacheBytes: 100, storeTimeoutMs: 200 });
    const { stream } = at.objectStore;
    at.objectStore.stream = async () =>
      Readable.from(
        (async function* () {
          yield file.subarray(0, 100);
          yield file.subarray(100, 200);
          await never();
        })(),
        { objectMode: false },
      );
    await expect(get()).rejects.toThrow();
    at.objectStore.stream = stream;
    expect((await get()).body.equals(file)).toBe(true);
  });

  it('is not ready, which /readyz says in time, and is asked once however often that is asked', async () => {
    await start({});
    let asked = 0;
    at.objectStore.read = () => {
      asked += 1;
      return never();
    };
    for (let times = 0; times < 2; times++) {
      at.time.offset += 1_000;
      const answer = await ask(at.url, '/readyz');
      expect(answer.status).toBe(503);
      expect(answer.json()).toMatchObject({ database: true, objectStore: false });
    }
    expect(asked).toBe(1);
  });
});

it('an object that the store missed once raises no alarm, and is served by the next request', async () => {
  await start();
  const { objectStore } = at;
  const stream = objectStore.stream;
  objectStore.stream = async () => {
    objectStore.stream = stream;
    throw new PackhouseError({ code: 'OBJECT_MISSING', message: 'There is no such object.' });
  };
  expect((await get()).status).toBe(503);
  expect((await get()).body.equals(file)).toBe(true);
  // What is found later is in the alarm later.
  await at.stage(10, 19);
  await at.publish(10, 19);
  await objectStore.delete('ethereum/logs/10-19.json.gz');
  expect((await get({}, 'GET', '/ethereum/files/logs/10-19.json.gz')).status).toBe(503);
  await expect
    .poll(alarm, WAIT)
    .toEqual([expect.stringContaining('1 published bundle of ethereum is damaged: logs 10-19 (missing)')]);
});
