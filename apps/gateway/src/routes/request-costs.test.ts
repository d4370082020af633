import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parseNetworks } from '@packhouse/networks';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const WAIT = { timeout: 30_000 };
const MIB = 1_048_576;
const JSON_TYPE = { 'content-type': 'application/json' };
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';

let node: ScriptedNode;
let at: TestGateway;
let sockets: Socket[] = [];

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(() => ({ result: '0x1' }));
  const upstreams = `upstreams: [{url: '${node.url}'}]`;
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, ${upstreams}}
  - {id: open, family: evm, chainId: 1, rpc: {open: true}, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks, openRate: 20, bodyMemoryBytes: 4 * MIB });
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  at.time.frozenAt = null;
});

/** A call that is padded to so many bytes. */
const padded = (bytes: number): string => CALL + ' '.repeat(bytes - CALL.length);
const toBatch = (calls: number): string => `[${new Array(calls).fill(CALL).join()}]`;
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  ask(at.url, path, { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } });
const free = async (): Promise<string> => `/main/v1/${(await at.makeKey('free')).key}`;
const unlimited = async (network = 'main'): Promise<string> => `/${network}/v1/${(await at.makeKey()).key}`;
const getHead = (path: string, length: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${length}\r\n\r\n`;

/** A bare connection, and all that came back on it. */
function openSocket(text: string): { socket: Socket; told: () => string } {
  const { hostname, port } = new URL(at.url);
  let told = '';
  const socket = connect(Number(port), hostname, () => socket.write(text));
  socket.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return { socket, told: () => told };
}
const bodiesHeld = async (): Promise<string | undefined> =>
  /packhouse_gateway_cache_bytes\{cache="requests"\} (\d+)/.exec((await ask(at.url, '/metrics')).text)?.[1];

it('a batch above the rate of its plan is answered once, and the next seconds pay for it', async () => {
  const path = await free();
  at.time.frozenAt = Date.now();
  const first = await post(path, toBatch(1_000));
  expect(first.json()).toHaveLength(1_000);
  expect(first.headers).toMatchObject({ 'ratelimit-cost': '1000', 'ratelimit-remaining': '0' });
  for (const [later, left] of [
    [0, '40'],
    [20_000, '20'],
    [19_000, '1'],
  ] as const) {
    at.time.offset += later;
    const refused = await post(path, CALL);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe(left);
  }
  at.time.offset += 1_000;
  expect((await post(path, CALL)).status).toBe(200);
});

it('a body is counted by its length before it is read, and refused unread if the rate is spent', async () => {
  const path = await free();
  at.time.frozenAt = Date.now();
  const long = await post(path, padded(300_000));
  expect([long.status, long.headers['ratelimit-cost']]).toEqual([200, '19']);
  expect((await post(path, padded(60_000))).headers['ratelimit-cost']).toBe('4');
  const refused = /^HTTP\/1.1 429 .*"reason":"rate-limited"/s;
  // Not a byte of the body is sent before the answer is there. To read and drop a long one would cost too much.
  const longer = openSocket(getHead(path, 'content-length: 300000'));
  await vi.waitFor(() => expect(longer.told()).toMatch(refused), WAIT);
  expect(longer.told()).toMatch(/connection: close/i);
  const { socket, told } = openSocket(getHead(path, 'content-length: 60000'));
  await vi.waitFor(() => expect(told()).toMatch(refused), WAIT);
  expect(told()).not.toMatch(/connection: close/i);
  // A client that sends it all the same may go on with its connection.
  at.time.offset += 1_000;
  socket.write(`${padded(60_000)}${getHead(path, `content-length: ${CALL.length}`)}${CALL}`);
  await vi.waitFor(() => expect(told()).toMatch(/HTTP\/1.1 200 .*"result":"0x1"/s), WAIT);
  const usage = await vi.waitUntil(async () => {
    const rows = (await ask(at.url, `${path}/usage?by=method`)).text;
    return rows.includes('"other"') ? rows : undefined;
  }, WAIT);
  expect(usage).toContain('"eth_chainId"');
});

it('a body without a length is counted as it came, and refused before if the rate is spent', async () => {
  const path = await free();
  at.time.frozenAt = Date.now();
  const chunked = { 'transfer-encoding': 'chunked' };
  const long = await post(path, padded(200_000), chunked);
  expect([long.status, long.headers['ratelimit-cost']]).toEqual([200, '13']);
  const longer = await post(path, padded(300_000), chunked);
  expect([longer.status, longer.json().error]).toMatchObject([429, { data: { reason: 'rate-limited' } }]);
  const { socket, told } = openSocket(getHead(path, 'transfer-encoding: chunked'));
  await once(socket, 'close');
  expect(told()).toMatch(/^HTTP\/1.1 429 .*connection: close.*"reason":"rate-limited"/is);
});

it('a body has 1 MiB with a key and 64 KiB without one, and may hold the largest batch', async () => {
  const [keyed, onOpen] = [await unlimited(), await unlimited('open')];
  const getStatus = async (path: string, bytes: number) => (await post(path, padded(bytes))).status;
  expect(await getStatus(keyed, MIB)).toBe(200);
  expect(await getStatus(keyed, MIB + 1)).toBe(413);
  expect(await getStatus(onOpen, MIB)).toBe(200);
  expect(await getStatus('/open/v1', 65_536)).toBe(200);
  const refused = await post('/open/v1', padded(65_537));
  expect([refused.status, refused.json().error]).toMatchObject([413, { data: { limit: 65_536 } }]);
  const filter = { fromBlock: '0x112a880', toBlock: '0x112a881', topics: [`0x${'cd'.repeat(32)}`, null] };
  const call = {
    jsonrpc: '2.0',
    method: 'eth_nothing',
    params: [{ ...filter, address: `0x${'ab'.repeat(20)}` }],
  };
  const batch = JSON.stringify(Array.from({ length: 1_000 }, (_, id) => ({ ...call, id })));
  expect((await post(keyed, batch)).json()).toHaveLength(1_000);
});

it('a body of too many elements is refused before it is parsed, and counted', async () => {
  const path = await free();
  at.time.frozenAt = Date.now();
  const answer = await post(path, `{"id":1,"method":"eth_chainId","params":[${'[],'.repeat(90_000)}[]]}`);
  expect([answer.status, answer.json()]).toMatchObject([
    413,
    { error: { data: { reason: 'body-too-large', limit: 32_768 } } },
  ]);
  expect(answer.headers['ratelimit-cost']).toBe('17');
});

it('bodies that are being sent have a share of memory for each key and address, and give it back', async () => {
  // A quarter of 4 MiB.
  const [one, other] = [await unlimited(), await unlimited()];
  const half = getHead(one, `content-length: ${MIB / 2}`);
  const first = openSocket(`${half}{`);
  openSocket(`${half}{`);
  await vi.waitFor(async () => expect(await bodiesHeld()).toBe(String(MIB)), WAIT);
  const refused = await post(one, CALL);
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  expect(refused.json()).toMatchObject({ error: { code: -32002, data: { reason: 'unavailable' } } });
  expect((await post(other, CALL)).status).toBe(200);
  // Without a key, the address has a share.
  for (let n = 0; n < 64; n++) openSocket(`${getHead('/open/v1', 'content-length: 16384')}{`);
  await vi.waitFor(async () => expect(await bodiesHeld()).toBe(String(2 * MIB)), WAIT);
  expect((await post('/open/v1', CALL)).status).toBe(503);
  first.socket.destroy();
  await vi.waitFor(async () => expect((await post(one, CALL)).status).toBe(200), WAIT);
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(async () => expect(await bodiesHeld()).toBe('0'), WAIT);
});

it('memory of a body without a length is reserved as it comes', async () => {
  const path = await unlimited();
  const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`;
  const begun = openSocket(getHead(path, 'transfer-encoding: chunked') + chunk(10));
  await vi.waitFor(async () => expect(await bodiesHeld()).toBe('65536'), WAIT);
  begun.socket.write(chunk(70_000));
  await vi.waitFor(async () => expect(await bodiesHeld()).toBe('131072'), WAIT);
  const announced = openSocket(`${getHead(path, `content-length: ${MIB - 131_072}`)}{`);
  await vi.waitFor(async () => expect(await bodiesHeld()).toBe(String(MIB)), WAIT);
  begun.socket.write(chunk(70_000));
  await once(begun.socket, 'close');
  expect(begun.told()).toMatch(/^HTTP\/1.1 503 .*connection: close.*retry-after: 1/is);
  announced.socket.destroy();
  await vi.waitFor(async () => expect(await bodiesHeld()).toBe('0'), WAIT);
});

it('an address gets so many 401 a second and then 429, but keys in use go on', async () => {
  const path = await unlimited();
  expect((await post(path, CALL)).status).toBe(200);
  at.time.frozenAt = Date.now();
  const guess = (n: number): string => `ph_abcdefgh_${String(n).padStart(43, 'A')}`;
  const statuses: number[] = [];
  for (let n = 0; n < 22; n++) {
    const answer =
      n % 2 === 0
        ? await post(`/main/v1/${guess(n)}`, CALL)
        : await ask(at.url, '/main/files/blocks/0-0.json.gz', {
            headers: { authorization: `Bearer ${guess(n)}` },
          });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([...new Array(20).fill(401), 429, 429]);
  const refused = await post('/main/v1/nonsense', CALL);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
  expect((await post(path, CALL)).status).toBe(200);
  expect((await post('/open/v1', CALL)).status).toBe(200);
  at.time.offset += 1_000;
  expect((await post('/main/v1/nonsense', CALL)).status).toBe(401);
});

it('without a key, calls and bodies of one address are counted together, and a debt is paid', async () => {
  at.time.offset += 3_600_000;
  at.time.frozenAt = Date.now();
  const long = await post('/open/v1', padded(40_000));
  expect(long.headers).toMatchObject({ 'ratelimit-cost': '3', 'ratelimit-remaining': '17' });
  expect((await post('/open/v1', toBatch(18))).status).toBe(429);
  at.time.offset += 1_000;
  expect((await post('/open/v1', toBatch(60))).json()).toHaveLength(60);
  for (const status of [429, 429, 429, 200]) {
    expect((await post('/open/v1', CALL)).status).toBe(status);
    at.time.offset += 1_000;
  }
});

it('connections of one address beyond CONNECTIONS_PER_ADDRESS are closed, and counted', async () => {
  const small = await startTestGateway({ connectionsPerAddress: 2 });
  try {
    const { hostname, port } = new URL(small.url);
    const [one, two, three] = [1, 2, 3].map(() => connect(Number(port), hostname)) as [
      Socket,
      Socket,
      Socket,
    ];
    sockets.push(one, two, three);
    for (const socket of sockets) socket.on('error', () => undefined).resume();
    await Promise.race(sockets.map((socket) => once(socket, 'close')));
    expect(sockets.filter(({ closed }) => closed)).toHaveLength(1);
    expect(await small.context.metrics.render()).toContain('packhouse_gateway_connections_refused_total 1');
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect((await ask(small.url, '/healthz')).status).toBe(200), WAIT);
  } finally {
    await small.close();
  }
});
