import { hash, randomBytes } from 'node:crypto';
import type { BlockRange } from '@packhouse/chain';
import { lakeFileKey } from '@packhouse/lake';
import avro from 'avsc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

/** What readers by S3 send beside the key; nothing depends on it. */
const SIGNED =
  'AWS4-HMAC-SHA256 Credential=x/20261126/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0';

let gateway: TestGateway;
let key: string;
/** Its plan ends within the second file. */
let limited: string;
let contents: Map<number, Buffer>;

/** 0, and the last partition of 10 million blocks, as eight bytes. */
const LONG_ZERO = Buffer.alloc(8);
const LAST_OF_GROUP = Buffer.alloc(8);
LAST_OF_GROUP.writeBigInt64LE(9_900_000n);

const FIELDS = [
  { id: 1, name: 'block_number', type: 'long', required: true },
  { id: 2, name: 'data', type: 'string', required: false },
];
const RANGES = [
  [0, 9_999],
  [10_000, 10_099],
  [10_200, 10_240],
] as const;

beforeAll(async () => {
  gateway = await startTestGateway();
  key = (await gateway.makeKey()).key;
  await gateway.database.plans.set(
    'short',
    { maxBlock: 10_050, requestsPerSecond: 1_000_000 },
    { make: true },
  );
  limited = (await gateway.makeKey('short')).key;
  contents = new Map();
  await add(RANGES.slice(0, 2));
  await add(RANGES.slice(2));
});
afterAll(() => gateway.close());

/** Commits files of these blocks, with any bytes, in one snapshot. */
async function add(
  ranges: readonly (readonly [number, number])[],
  remove: readonly number[] = [],
): Promise<void> {
  const files = [];
  for (const [firstBlock, lastBlock] of ranges) {
    const body = randomBytes(300_000);
    contents.set(firstBlock, body);
    const sha256 = hash('sha256', body);
    const objectKey = lakeFileKey({
      network: 'ethereum',
      kind: 'logs',
      firstBlock,
      lastBlock,
      sha256,
    });
    await gateway.objectStore.put(objectKey, body, { sha256, contentType: 'x', metadata: {} });
    const stats = {
      1: { min: `${firstBlock}`, max: `${lastBlock}`, nulls: 0 },
      2: { min: null, max: null, nulls: 3 },
    };
    files.push({
      firstBlock,
      lastBlock,
      rows: 7,
      bytes: body.length,
      sha256,
      sources: sha256,
      objectKey,
      stats,
      lacks: {},
    });
  }
  const heads = { logs: { sequence: 4, hash: 'ab'.repeat(32), signature: `${'A'.repeat(86)}==` } };
  const change = { fields: FIELDS, heads, remove, add: files };
  await gateway.database.network('ethereum').lake.commit('logs', change, undefined);
  gateway.time.offset += 2_000;
}

/** Asks for a path of the catalog, or for a file by its address, as readers by S3 do. */
async function get(path: string, options: RequestInit & { as?: string } = {}): Promise<Response> {
  const { as = key, ...init } = options;
  const { protocol, pathname } = new URL(path, 'none://');
  const [url, headers] =
    protocol === 's3:'
      ? [`${gateway.url}/iceberg${pathname}`, { 'x-amz-security-token': as, authorization: SIGNED }]
      : [`${gateway.url}/iceberg/v1${path}`, { authorization: `Bearer ${as}` }];
  return fetch(url, { ...init, headers: { ...headers, ...init.headers } });
}

interface Metadata {
  'current-snapshot-id': number;
  properties: Record<string, string>;
  snapshots: { 'manifest-list': string; summary: Record<string, string> }[];
}

async function load(as = key): Promise<Metadata> {
  const answer = await get('/namespaces/ethereum/tables/logs', { as });
  return ((await answer.json()) as { metadata: Metadata }).metadata;
}

/** The records of an Avro file. */
async function records(url: string, as = key): Promise<Record<string, unknown>[]> {
  const bytes = Buffer.from(await (await get(url, { as })).arrayBuffer());
  const decoder = new avro.streams.BlockDecoder();
  const found: Record<string, unknown>[] = [];
  decoder.on('data', (value) => found.push(value as Record<string, unknown>));
  decoder.end(bytes);
  await new Promise((resolve, reject) => decoder.once('end', resolve).once('error', reject));
  return found;
}

interface DataFile {
  file_path: string;
  record_count: number;
  file_size_in_bytes: number;
  lower_bounds: { key: number; value: Buffer }[];
}

async function dataFiles(as = key): Promise<DataFile[]> {
  const list = (await load(as)).snapshots[0]?.['manifest-list'] as string;
  const files: DataFile[] = [];
  for (const manifest of await records(list, as)) {
    const bytes = await (await get(manifest.manifest_path as string, { as })).arrayBuffer();
    expect(bytes.byteLength).toBe(manifest.manifest_length);
    const entries = await records(manifest.manifest_path as string, as);
    expect(manifest.existing_files_count).toBe(entries.length);
    // Readers of other blocks skip it.
    expect(manifest.partitions).toMatchObject([{ lower_bound: LONG_ZERO, upper_bound: LAST_OF_GROUP }]);
    files.push(...entries.map((entry) => entry.data_file as DataFile));
  }
  return files;
}

it('lists the networks that have tables, and their tables', async () => {
  expect(await (await get('/config')).json()).toMatchObject({ defaults: {}, overrides: {} });
  expect(await (await get('/namespaces')).json()).toEqual({ namespaces: [['ethereum']] });
  expect(await (await get('/namespaces?parent=ethereum')).json()).toEqual({ namespaces: [] });
  // Lists are whole, as the specification asks of a server without pages.
  expect(await (await get('/namespaces?pageToken=&pageSize=1')).json()).toEqual({
    namespaces: [['ethereum']],
  });
  expect(await (await get('/namespaces/ethereum')).json()).toEqual({
    namespace: ['ethereum'],
    properties: {},
  });
  const tables = { identifiers: [{ namespace: ['ethereum'], name: 'logs' }] };
  expect(await (await get('/namespaces/ethereum/tables')).json()).toEqual(tables);
  for (const path of ['', '/tables/logs'])
    expect((await get(`/namespaces/ethereum${path}`, { method: 'HEAD' })).status).toBe(204);
  expect((await get('/namespaces/ethereum/tables/none', { method: 'HEAD' })).status).toBe(404);
});

it('says which blocks a table has, and up to which entry of the manifest', async () => {
  const { properties, snapshots } = await load();
  const head = `4:${'ab'.repeat(32)}`;
  expect(properties).toEqual({
    'packhouse.complete': '0-10099,10200-10240',
    'packhouse.manifest.logs': head,
    'packhouse.manifest.logs.signature': `${'A'.repeat(86)}==`,
  });
  expect(snapshots[0]?.summary).toMatchObject({ 'total-records': '21', 'total-data-files': '3' });
});

it('leads from a table to its files, with bounds, whole and in part', async () => {
  const files = await dataFiles();
  expect(files.map(({ lower_bounds }) => lower_bounds.map(({ value }) => value.readBigInt64LE()))).toEqual(
    RANGES.map(([first]) => [BigInt(first)]),
  );
  const { file_path, file_size_in_bytes, record_count } = files[1] as DataFile;
  const body = contents.get(10_000) as Buffer;
  expect([file_size_in_bytes, record_count]).toEqual([body.length, 7]);
  const whole = await get(file_path);
  expect(Buffer.from(await whole.arrayBuffer()).equals(body)).toBe(true);
  const part = await get(file_path, { headers: { range: 'bytes=100-299' } });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-299/${body.length}`]);
  expect(Buffer.from(await part.arrayBuffer()).equals(body.subarray(100, 300))).toBe(true);
  const head = await get(file_path, { method: 'HEAD' });
  expect(head.headers.get('content-length')).toBe(String(body.length));
});

it('shows a plan that ends at a block the files up to it, and no other', async () => {
  const { properties, snapshots } = await load(limited);
  expect(properties['packhouse.complete']).toBe('0-9999');
  expect(snapshots[0]?.summary['total-records']).toBe('7');
  const own = await dataFiles(limited);
  expect(own).toHaveLength(1);
  const all = await dataFiles();
  const refused = [
    (await load()).snapshots[0]?.['manifest-list'] as string,
    (all[1] as DataFile).file_path,
    (all[2] as DataFile).file_path,
  ];
  for (const url of refused) {
    const answer = await get(url, { as: limited });
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining('<Code>AccessDenied</Code>'),
    ]);
  }
  expect((await get(own[0]?.file_path as string, { as: limited })).status).toBe(200);
});

it('refuses strangers, keys of other networks, and what is not there, in the words of the specification', async () => {
  const other = (await gateway.makeKey('unlimited', 'logsonly')).key;
  expect(await (await get('/namespaces', { as: other })).json()).toEqual({ namespaces: [] });
  const file = (await dataFiles())[0]?.file_path as string;
  const none = 's3://iceberg/files/ethereum/logs';
  const cases: [string, RequestInit & { as?: string }, number, string][] = [
    ['/config', { as: 'ph_none' }, 401, 'NotAuthorizedException'],
    ['/namespaces/ethereum/tables/logs', { as: other }, 403, 'ForbiddenException'],
    ['/namespaces/nowhere', {}, 404, 'NoSuchNamespaceException'],
    ['/namespaces/quiet', {}, 404, 'NoSuchNamespaceException'],
    ['/namespaces/ethereum%1Fmain', {}, 404, 'NoSuchNamespaceException'],
    ['/namespaces/a%2Fb/tables/logs', {}, 404, 'NoSuchNamespaceException'],
    [`/namespaces/${encodeURIComponent('中文')}`, {}, 404, 'NoSuchNamespaceException'],
    [`/namespaces/${'a'.repeat(10_000)}`, {}, 414, 'BadRequestException'],
    ['/namespaces/%ff', {}, 400, 'BadRequestException'],
    ['/namespaces/ethereum/views', {}, 404, 'NotFoundException'],
    ['/transactions', {}, 404, 'NotFoundException'],
    [`/namespaces/ethereum/tables/${encodeURIComponent('ログ\0')}`, {}, 404, 'NoSuchTableException'],
    [`/namespaces/ethereum/tables/${'a'.repeat(1_900)}`, {}, 404, 'NoSuchTableException'],
    ['/namespaces/ethereum/tables/blocks', {}, 404, 'NoSuchTableException'],
    ['/namespaces/ethereum/tables/..%2f..%2fetc', {}, 404, 'NoSuchTableException'],
    [`/namespaces/ethereum/tables/${encodeURIComponent("x'; DROP TABLE")}`, {}, 404, 'NoSuchTableException'],
    ['/namespaces', { method: 'POST' }, 405, 'UnsupportedOperationException'],
    ['/namespaces/ethereum/tables/logs', { method: 'DELETE' }, 405, 'UnsupportedOperationException'],
  ];
  for (const [path, options, status, type] of cases) {
    const answer = await get(path, options);
    const { error } = (await answer.json()) as { error: object };
    expect({ path, status: answer.status, error }).toMatchObject({
      path,
      status,
      error: { type, code: status },
    });
  }
  const files: [string, string, number, string][] = [
    [file, other, 403, 'AccessDenied'],
    [file, 'ph_none', 401, 'AccessDenied'],
    [`${none}/metadata/snap-99-all.avro`, key, 404, 'NoSuchKey'],
    [`${none}/metadata/snap-1.avro`, key, 404, 'NoSuchKey'],
    [`${none}/metadata/1-all.avro`, key, 404, 'NoSuchKey'],
    [`${none}/metadata/snap-1-all.metadata.json`, key, 404, 'NoSuchKey'],
    [`${none}/data/0-9999-${'0'.repeat(16)}.parquet`, key, 404, 'NoSuchKey'],
    [`${none}/metadata/manifest-0-999999999-1-all.avro`, key, 404, 'NoSuchKey'],
    [`${none}/metadata/manifest-7-6-1-all.avro`, key, 404, 'NoSuchKey'],
    [`${none}/data/passwd`, key, 404, 'NoSuchKey'],
  ];
  for (const [url, as, status, code] of files) {
    const answer = await get(url, { as });
    expect([url, answer.status, await answer.text()]).toEqual([
      url,
      status,
      expect.stringMatching(`^<\\?xml .*<Error><Code>${code}</Code><Message>.+</Message></Error>$`),
    ]);
  }
});

it('says where the files of a table are for readers by S3, and serves its metadata there', async () => {
  const answer = await get('/namespaces/ethereum/tables/logs');
  const table = (await answer.json()) as { 'metadata-location': string; metadata: object; config: object };
  expect(table.config).toMatchObject({
    's3.endpoint': `${gateway.url}/`,
    's3.path-style-access': 'true',
    's3.session-token': key,
  });
  expect(await (await get(table['metadata-location'])).json()).toEqual(table.metadata);
  // The key is also taken as a Bearer token, and errors are then those of the catalog.
  const url = table['metadata-location'].replace('s3:/', gateway.url);
  const bearer = (as: string): RequestInit => ({ headers: { authorization: `Bearer ${as}` } });
  expect(await (await fetch(url, bearer(key))).json()).toEqual(table.metadata);
  expect(await (await fetch(url, bearer('ph_none'))).json()).toMatchObject({
    error: { type: 'NotAuthorizedException' },
  });
});

describe('OAuth', () => {
  const grant = { grant_type: 'client_credentials', scope: 'catalog' };
  const ask = (form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.url}/iceberg/v1/oauth/tokens`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers,
    });

  it('gives the key as the token, whether it is in the form or a password', async () => {
    const basic = `Basic ${Buffer.from(`packhouse:${key}`).toString('base64')}`;
    for (const answer of [
      await ask({ ...grant, client_id: 'packhouse', client_secret: key }),
      await ask(grant, { authorization: basic }),
    ]) {
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toEqual({ access_token: key, token_type: 'bearer', scope: 'catalog' });
    }
  });

  it('refuses other secrets, grants and bodies in the words of OAuth', async () => {
    const { key: mine, row } = await gateway.makeKey();
    await gateway.database.keys.revoke(row.prefix);
    const json = { 'content-type': 'application/json' };
    const cases: [Record<string, string>, Record<string, string>, number, string][] = [
      [{ ...grant, client_secret: 'ph_none' }, {}, 401, 'invalid_client'],
      [grant, {}, 401, 'invalid_client'],
      [grant, { authorization: 'Basic !' }, 401, 'invalid_client'],
      [{ ...grant, client_secret: mine }, {}, 403, 'invalid_client'],
      [{ grant_type: 'password', client_secret: key }, {}, 400, 'unsupported_grant_type'],
      [{ ...grant, client_secret: 'x'.repeat(5_000) }, {}, 413, 'invalid_request'],
      [{ ...grant, client_secret: key }, json, 415, 'invalid_request'],
    ];
    for (const [form, headers, status, error] of cases) {
      const answer = await ask(form, headers);
      expect([answer.status, await answer.json()]).toMatchObject([status, { error }]);
    }
  });
});

it('serves a snapshot while its files are kept, then says that it has expired', async () => {
  const old = (await load()).snapshots[0]?.['manifest-list'] as string;
  const before = await dataFiles();
  await add([[10_200, 10_249]], [10_200]);
  expect((await dataFiles()).map(({ file_path }) => file_path)).not.toEqual(
    before.map(({ file_path }) => file_path),
  );
  expect(await records(old)).toHaveLength(1);
  const replaced = (before[2] as DataFile).file_path;
  expect((await get(replaced)).status).toBe(200);
  const { lake } = gateway.database.network('ethereum');
  const [expired] = await lake.expired(0, 10);
  await lake.expire(expired as never);
  gateway.time.offset += 2_000;
  const answer = await get(old);
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('has expired')]);
});

it('counts the calls of a key, and refuses it within a second of its end', async () => {
  const { key: mine, row } = await gateway.makeKey();
  const answer = await get('/namespaces/ethereum/tables', { as: mine });
  const [file] = await dataFiles(mine);
  expect(answer.headers.get('ratelimit-cost')).toBe('1');
  await get('/config', { as: mine });
  // Counts are written every second.
  const byNetwork = { keyIds: [row.id], since: 0, until: 99_999, by: 'network' } as const;
  await expect
    .poll(async () => (await gateway.database.usage.sums(byNetwork)).map(({ name }) => name))
    .toEqual(['ethereum', 'iceberg']);
  await gateway.database.keys.revoke(row.prefix);
  gateway.time.offset += 1_000;
  const refused = await get('/namespaces/ethereum/tables', { as: mine });
  expect([refused.status, await refused.json()]).toMatchObject([
    403,
    { error: { type: 'ForbiddenException' } },
  ]);
  // A query that began before ends at its next file.
  const part = await get(file?.file_path as string, { as: mine, headers: { range: 'bytes=0-9' } });
  expect([part.status, await part.text()]).toEqual([
    403,
    expect.stringContaining('This API key was revoked.'),
  ]);
});

it('says which blocks of a table are without a kind, as far as a plan includes them, and where native transfers are known', async () => {
  const { lake } = gateway.database.network('ethereum');
  const sha256 = hash('sha256', 'transfers');
  const range = (firstBlock: number, lastBlock: number) => ({ firstBlock, lastBlock });
  const file = (blocks: BlockRange, lacks: object) => ({
    ...blocks,
    rows: 1,
    bytes: 9,
    sha256,
    sources: sha256,
    objectKey: lakeFileKey({ network: 'ethereum', kind: 'transfers', sha256, ...blocks }),
    stats: {},
    lacks,
  });
  const propertiesOf = async (as: string): Promise<Record<string, string>> => {
    const answer = await get('/namespaces/ethereum/tables/transfers', { as });
    return ((await answer.json()) as { metadata: Metadata }).metadata.properties;
  };
  const add = [
    file(range(0, 9_999), { traces: [range(7, 7)] }),
    file(range(10_000, 10_099), { traces: [range(10_000, 10_099)], blocks: [range(10_000, 10_001)] }),
  ];
  const change = { fields: FIELDS, heads: {}, remove: [], add };
  await lake.commit('transfers', change, undefined);
  gateway.time.offset += 2_000;
  expect(await propertiesOf(key)).toEqual({
    'packhouse.complete': '0-10099',
    'packhouse.lacks.traces': '7-7,10000-10099',
    'packhouse.lacks.blocks': '10000-10001',
    'packhouse.native':
      'eip-7708,traces,withdrawals; not known: traces of 7-7,10000-10099; not known: withdrawals of 10000-10001',
  });
  expect(await propertiesOf(limited)).toMatchObject({
    'packhouse.lacks.traces': '7-7',
    'packhouse.native': 'eip-7708,traces,withdrawals; not known: traces of 7-7',
  });
  // A network without traces.
  const without = file(range(0, 9_999), { traces: [range(0, 9_999)] });
  await lake.commit('transfers', { ...change, remove: [0, 10_000], add: [without] }, undefined);
  gateway.time.offset += 2_000;
  expect((await propertiesOf(key))['packhouse.native']).toBe(
    'eip-7708,withdrawals; not known: traces of 0-9999',
  );
});

it('has short ranges share a unit, and asks readers by S3 to slow down in their words', async () => {
  await gateway.database.plans.set('slow', { requestsPerSecond: 1 }, { make: true });
  const { key: slow } = await gateway.makeKey('slow');
  const [{ file_path: file } = expect.fail()] = await dataFiles();
  const read = (init: RequestInit = {}): Promise<Response> => get(file, { as: slow, ...init });
  const costs: (string | null)[] = [];
  for (let at = 0; at < 16; at += 1) {
    const answer = await read(at % 2 === 0 ? { headers: { range: `bytes=${at}-999` } } : { method: 'HEAD' });
    expect(answer.ok).toBe(true);
    costs.push(answer.headers.get('ratelimit-cost'));
  }
  expect(costs).toEqual(['1', ...new Array(15).fill('0')]);
  // None of these waits for longer than two seconds.
  const answers = await Promise.all(Array.from({ length: 6 }, () => read()));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThanOrEqual(3);
  for (const answer of refused) {
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
    expect(await answer.text()).toContain('<Code>SlowDown</Code><Message>The plan "slow" includes 1 units');
  }
  // In the words of the catalog it is what it was.
  const url = `${gateway.url}/iceberg${new URL(file).pathname}`;
  const bearer = { headers: { authorization: `Bearer ${slow}` } };
  const others = await Promise.all(Array.from({ length: 5 }, () => fetch(url, bearer)));
  expect(others.map(({ status }) => status)).toContain(429);
});
