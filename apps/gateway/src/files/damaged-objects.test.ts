import { hash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { type Finding, listDamage, runAudit } from '@packhouse/audit';
import { filterKey } from '@packhouse/bundle';
import { KINDS } from '@packhouse/chain';
import type { BundleRow, LakeFile } from '@packhouse/database';
import { isLakeKey, lakeFileKey } from '@packhouse/lake';
import { type ObjectStore, openObjectStore } from '@packhouse/object-store';
import { startScriptedS3 } from '@packhouse/scripted-s3';
import pLimit from 'p-limit';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../gateway-options.js';
import { startTestGateway, type TestGateway, toRecord } from '../testing/test-gateway.js';

/** How long a silent store is waited for: longer than a read takes on any machine. */
const STORE_MS = 4_000;
const AT_A_TIME = 32;
const BLOCKS = 10;
const PIECE = 100;

/** What becomes of an object between its publication and its read. */
const FAULTS = ['none', 'shorter', 'longer', 'changed', 'replaced', 'gone', 'ends midway', 'silent'] as const;
type Fault = (typeof FAULTS)[number];
type Midway = Extract<Fault, 'ends midway' | 'silent'>;

/** A gateway with a place for objects. */
interface Place {
  at: TestGateway;
  store: ObjectStore;
  /** Writes an object as no program of ours does: what the store knows of it stays. */
  overwrite(key: string, bytes: Buffer): Promise<void>;
  /** What happens in the middle of reads, by key. */
  midway: Map<string, Midway>;
  close(): Promise<void>;
}

/** Has streams come in small pieces; `midway` happens after half of a read. */
function inPieces(store: ObjectStore, midway: Map<string, Midway>): void {
  const { read, stream } = store;
  const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
  store.read = async (key, options) => {
    const bytes = await read(key, options);
    if (midway.get(key) === 'silent') return never();
    return midway.has(key) ? bytes.subarray(0, bytes.length >> 1) : bytes;
  };
  store.stream = async (key, options) => {
    const opened = await stream(key, options);
    async function* pieces(): AsyncGenerator<Buffer> {
      const bytes = Buffer.concat((await opened.toArray()) as Buffer[]);
      const end = midway.has(key) ? bytes.length >> 1 : bytes.length;
      for (let from = 0; from < end; from += PIECE) yield bytes.subarray(from, Math.min(end, from + PIECE));
      if (midway.get(key) === 'silent') await never();
    }
    return Readable.from(pieces(), { objectMode: false });
  };
}

type Start = (options: Partial<GatewayOptions>) => Promise<TestGateway>;

const PLACES: Record<string, (start: Start) => Promise<Place>> = {
  'a folder': async (start) => {
    const at = await start({});
    const midway = new Map<string, Midway>();
    const folder = at.objectStore.description.slice('disk:'.length);
    inPieces(at.objectStore, midway);
    return {
      at,
      store: at.objectStore,
      overwrite: (key, bytes) => writeFile(path.join(folder, key), bytes),
      midway,
      close: () => at.close(),
    };
  },
  S3: async (start) => {
    const midway = new Map<string, Midway>();
    const s3 = await startScriptedS3({
      onRequest: ({ method, key }) => {
        const fault = method === 'GET' ? midway.get(key) : undefined;
        return fault && ({ 'ends midway': 'truncate', silent: 'stall' } as const)[fault];
      },
    });
    const store = await openObjectStore(`s3://${s3.bucket}`, {
      endpoint: s3.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: s3.accessKeyId, secretAccessKey: 'secret' },
    });
    // Led to the store is whoever does not ask with If-Match.
    const at = await start({ objectStore: store, downloads: 'redirect' });
    return {
      at,
      store,
      overwrite: async (key, bytes) => {
        (s3.objects.get(key) as { body: Buffer }).body = bytes;
      },
      midway,
      async close() {
        await at.close();
        await store.close();
        await s3.close();
      },
    };
  },
};

/** A read of an object, and the object before anything became of it. */
interface Read {
  /** Of the API key that it is done with, and no other. */
  prefix: string;
  key: string;
  path: string;
  headers: Record<string, string>;
  /** The right answer; of a block, its text. */
  body: Buffer;
  object: Buffer;
  /** A byte of the object that the answer depends on. */
  position: number;
}

type Sort = 'bundle' | 'block' | 'block of a shared fragment' | 'data file' | 'filters';
type Part = 'whole' | 'start' | 'middle' | 'end' | 'several parts';

/** The bytes of a part, and how they are asked for. */
function toPart(part: Part, size: number): { start: number; end: number; range?: string } {
  const middle = size >> 1;
  switch (part) {
    case 'start':
      return { start: 0, end: 99, range: 'bytes=0-99' };
    case 'middle':
      return { start: middle, end: middle + 300, range: `bytes=${middle}-${middle + 300}` };
    case 'end':
      return { start: size - 400, end: size - 1, range: 'bytes=-400' };
    case 'several parts':
      return { start: 0, end: size - 1, range: 'bytes=0-9,20-29' };
    default:
      return { start: 0, end: size - 1 };
  }
}

/** Publishes an object for one read of it. */
function createMaker({ at, store }: Place) {
  let next = 0;
  const put = async (name: string, bytes: Buffer): Promise<void> => {
    await store.put(name, bytes, { sha256: hash('sha256', bytes), contentType: 'x', metadata: {} });
  };
  const ofBody = (place: Pick<Read, 'prefix' | 'key' | 'path' | 'headers' | 'object'>, part: Part): Read => {
    const { start, end, range } = toPart(part, place.object.length);
    const headers = { ...place.headers, ...(range === undefined ? {} : { range }) };
    return { ...place, headers, body: place.object.subarray(start, end + 1), position: (start + end) >> 1 };
  };
  return async (sort: Sort, part: Part): Promise<Read> => {
    const firstBlock = next;
    const lastBlock = next + BLOCKS - 1;
    // No fragment reaches over a border of 1,024 blocks.
    next += 16;
    const { bundleFilters, bundles, lake, staging } = at.database.network('ethereum');
    // By its key the log tells the request.
    const {
      key,
      row: { prefix },
    } = await at.makeKey();
    const headers = { authorization: `Bearer ${key}`, 'if-match': '*' };
    if (sort === 'data file') {
      const bytes = randomBytes(3_000);
      const sha256 = hash('sha256', bytes);
      const objectKey = lakeFileKey({ network: 'ethereum', kind: 'logs', firstBlock, lastBlock, sha256 });
      await put(objectKey, bytes);
      const file = {
        firstBlock,
        lastBlock,
        rows: 1,
        bytes: 3_000,
        sha256,
        sources: sha256,
        objectKey,
        stats: {},
        lacks: {},
      };
      await lake.commit('logs', { fields: [], heads: {}, remove: [], add: [file] }, undefined);
      const where = `/iceberg/files/ethereum/logs/data/${path.basename(objectKey)}`;
      return ofBody({ prefix, key: objectKey, path: where, headers, object: bytes }, part);
    }
    await at.stage(firstBlock, lastBlock, { group: sort === 'block of a shared fragment' ? 4 : 1 });
    const published = await at.publish(firstBlock, lastBlock);
    const row = (await bundles.covering('logs', firstBlock)) as BundleRow;
    for (const [kind, bytes] of published) await put(row.objectKey.replace('/logs/', `/${kind}/`), bytes);
    const object = published.get('logs') as Buffer;
    const files = `/ethereum/files/logs/`;
    if (sort === 'bundle') {
      const where = `${files}${firstBlock}-${lastBlock}.json.gz`;
      return ofBody({ prefix, key: row.objectKey, path: where, headers, object }, part);
    }
    if (sort !== 'filters') {
      await staging.reclaim();
      const last = row.fragments.at(-1)?.byteLength as number;
      return {
        prefix,
        key: row.objectKey,
        path: `${files}${lastBlock}-${lastBlock}.json.gz`,
        headers,
        body: Buffer.from(`[${toRecord('logs', lastBlock)}]`),
        object,
        position: object.length - 14 - (last >> 1),
      };
    }
    const bytes = randomBytes(1_000);
    const filter = { bytes: bytes.length, sha256: hash('sha256', bytes) };
    await put(filterKey(row.objectKey), bytes);
    await bundleFilters.put({ kind: 'logs', firstBlock, version: 1, sha256: row.sha256 }, filter);
    const where = `/ethereum/v1/${key}/bundle-api/filters?kind=logs&from=${firstBlock}&to=${lastBlock}`;
    const place = { prefix, key: filterKey(row.objectKey), path: where, headers: {} };
    return { ...place, body: bytes, object: bytes, position: 500 };
  };
}

/** Does to an object what the fault says. */
async function damage(
  { store, overwrite, midway }: Place,
  { key, object, position }: Read,
  fault: Fault,
): Promise<void> {
  const changed = Buffer.from(object);
  changed[position] = (changed[position] as number) ^ 0xff;
  const other = randomBytes(object.length);
  if (fault === 'shorter') await overwrite(key, object.subarray(0, -300));
  else if (fault === 'longer') await overwrite(key, Buffer.concat([object, randomBytes(300)]));
  else if (fault === 'changed') await overwrite(key, changed);
  else if (fault === 'gone') await store.delete(key);
  else if (fault === 'replaced') {
    await store.delete(key);
    await store.put(key, other, { sha256: hash('sha256', other), contentType: 'x', metadata: {} });
  } else if (fault !== 'none') midway.set(key, fault);
}

interface Got {
  status: number;
  body: Buffer;
  /** All that the head announces came, and the next answer behind it. */
  isWhole: boolean;
}

/** Sends a request and another behind it on one connection; resolves with what came for the first. */
function read(base: string, { path: where, headers }: Pick<Read, 'path' | 'headers'>): Promise<Got> {
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  socket.write(
    `GET ${where} HTTP/1.1\r\n${lines.join('')}\r\nGET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  );
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  return new Promise((resolve, reject) => {
    socket.on('close', () => {
      const all = Buffer.concat(chunks);
      const end = all.indexOf('\r\n\r\n') + 4;
      const head = all.toString('latin1', 0, end);
      const [, length] = /^content-length: (\d+)\r$/m.exec(head) ?? [];
      const [, status] = /^HTTP\/1.1 (\d+)/.exec(head) ?? [];
      const body = all.subarray(end, end + Number(length));
      const rest = all.toString('latin1', end + body.length);
      const isWhole = body.length === Number(length);
      if (isWhole && !rest.startsWith('HTTP/1.1 200 OK')) reject(new Error(`behind the answer came ${rest}`));
      resolve({ status: Number(status), body, isWhole });
    });
  });
}

type Verdict = 'right' | 'refused' | 'cut' | 'wrong';

function judge({ status, body, isWhole }: Got, right: Buffer, sort: Sort): Verdict {
  if (status >= 500) return 'refused';
  if (!isWhole) return 'cut';
  if (sort.startsWith('block')) return gunzipSync(body).equals(right) ? 'right' : 'wrong';
  // A file without a filter is downloaded.
  const got = sort === 'filters' ? body.subarray(52) : body;
  return got.equals(right) || (sort === 'filters' && got.length === 0) ? 'right' : 'wrong';
}

const PARTS: readonly Part[] = ['start', 'middle', 'end'];

const opened: Place[] = [];
afterEach(async () => {
  for (const place of opened.splice(0)) await place.close();
});

async function openPlace(name: string, options: Partial<GatewayOptions>): Promise<Place> {
  const open = PLACES[name] as (typeof PLACES)[string];
  const place = await open((more) => startTestGateway({ ...options, ...more }));
  opened.push(place);
  return place;
}

const ALL: readonly Part[] = ['whole', ...PARTS, 'several parts'];

describe.each(Object.keys(PLACES))('in %s', (name) => {
  it.each<[string, number, [Sort, readonly Part[]][]]>([
    ['held in memory', 64_000_000, [['bundle', ALL]]],
    [
      'streamed',
      100,
      [
        ['bundle', ALL],
        ['data file', ALL],
        ['block', ['whole']],
        ['block of a shared fragment', ['whole']],
        ['filters', ['whole']],
      ],
    ],
  ])('no object is answered wrong, whatever becomes of it: %s', async (_, fileCacheBytes, sorts) => {
    const place = await openPlace(name, { fileCacheBytes, storeTimeoutMs: STORE_MS });
    const { at } = place;
    const make = createMaker(place);
    const cells: { cell: string; fault: Fault; sort: Sort; part: Part; made: Read }[] = [];
    for (const [sort, parts] of sorts)
      for (const part of parts)
        for (const fault of FAULTS)
          cells.push({ cell: `${sort}, ${part}: ${fault}`, fault, sort, part, made: await make(sort, part) });
    for (const { made, fault } of cells) await damage(place, made, fault);
    const limit = pLimit(AT_A_TIME);
    const verdicts = await Promise.all(
      cells.map(({ sort, made }) => limit(async () => judge(await read(at.url, made), made.body, sort))),
    );
    const outcomes = new Map(
      at.log
        .map((line) => JSON.parse(line) as Record<string, string>)
        .map((line) => [line.key as string, line.outcome as string]),
    );
    const got = cells.map(({ cell, made }, n) => `${cell}: ${verdicts[n]}, ${outcomes.get(made.prefix)}`);
    const allowed = cells.map(({ cell, fault, sort, part }, n) => {
      const isUnseen = name === 'S3' && fault === 'changed' && sort === 'data file' && PARTS.includes(part);
      const verdict = isUnseen ? 'wrong' : verdicts[n];
      const isBroken = fault === 'silent' || (name === 'S3' && fault === 'ends midway');
      if (verdict === 'cut' || verdict === 'refused')
        return `${cell}: ${verdict}, ${isBroken ? 'unavailable' : 'file-damaged'}`;
      return `${cell}: ${isUnseen ? 'wrong' : 'right'}, ok`;
    });
    expect(got).toEqual(allowed);
    const sound = cells.filter(({ fault }, n) => fault === 'none' && verdicts[n] !== 'right');
    expect(sound.map(({ cell }) => cell)).toEqual([]);
    const damaged = cells.filter(({ made }) => outcomes.get(made.prefix) === 'file-damaged');
    expect(damaged.length).toBeGreaterThan(cells.length / 3);
    await expect
      .poll(async () => (await listDamage(at.database)).map(({ key }) => key).sort())
      .toEqual(damaged.map(({ made }) => made.key).sort());
  });
});

describe('a data file of the lake that was cut', () => {
  const everything = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };
  /** Its findings. */
  const audit = async ({ context, database, objectStore }: TestGateway): Promise<Finding[]> => {
    const findings: Finding[] = [];
    await runAudit(
      { context, database, objectStore },
      { networks: ['ethereum'], kinds: KINDS, range: everything, sample: 1, seed: '', objects: false },
      { onFinding: (finding) => findings.push(finding) },
      context.signal,
    );
    return findings.filter(({ cause }) => cause === 'dataFile');
  };

  it('is refused in all its parts, with an alarm and by name, until it is written again', async () => {
    const place = await openPlace('a folder', { storeTimeoutMs: STORE_MS });
    const { at } = place;
    const make = createMaker(place);
    await make('bundle', 'whole');
    const made = await make('data file', 'end');
    const { object, key } = made;
    const get = (range: string): Promise<Got> =>
      read(at.url, { path: made.path, headers: { ...made.headers, range } });
    expect((await get('bytes=-4')).body).toEqual(object.subarray(-4));
    await place.overwrite(key, object.subarray(0, -300));
    expect(await get('bytes=-400')).toMatchObject({ status: 503, isWhole: true });
    expect(at.log.filter((line) => line.includes('OBJECT_MISMATCH'))).toHaveLength(1);
    // What is there of it is not known to be right.
    expect((await get('bytes=0-9')).status).toBe(503);
    await expect
      .poll(async () => (await at.database.alarms.list()).map(({ message }) => message))
      .toEqual([
        expect.stringMatching(/^1 published file of ethereum is damaged: table logs 16-25 \(sha256\)\. /),
      ]);
    expect(await audit(at)).toMatchObject([{ kind: 'logs', from: 16, to: 25, key }]);
    expect((await listDamage(at.database)).filter((file) => isLakeKey(file.key))).toMatchObject([{ key }]);

    await place.overwrite(key, object);
    expect((await get('bytes=0-9')).status).toBe(503);
    const { lake } = at.database.network('ethereum');
    const [row] = (await lake.newest('logs', everything)) as [LakeFile];
    await lake.commit('logs', { fields: [], heads: {}, remove: [row.firstBlock], add: [row] }, undefined);
    // Its row is read again after a refusal.
    expect((await get('bytes=0-9')).body).toEqual(object.subarray(0, 10));
    expect(await audit(at)).toEqual([]);
    expect((await listDamage(at.database)).filter((file) => isLakeKey(file.key))).toEqual([]);
  });
});
