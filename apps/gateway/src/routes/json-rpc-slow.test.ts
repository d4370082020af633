import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const WAIT = { timeout: 60_000 };
/** More than the machine buffers. */
const LARGE = `"0x${'ab'.repeat(15_000_000)}"`;
const HASH = `0x${'1'.repeat(64)}`;
const LINK = JSON.stringify({ number: '0x100', hash: HASH, parentHash: HASH });

const toAnswer = (id: number, result: string): string => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;

/** The node's reaction to a call; unfinished answers are in `open`. */
let says: (response: ServerResponse, id: number) => void;
let open: Set<ServerResponse>;
let node: Server;
let at: TestGateway;
let key: string;

beforeAll(async () => {
  open = new Set();
  node = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { id } = JSON.parse(body) as { id: number };
    // Its chain and its head.
    if (body.includes('eth_chainId') || body.includes('eth_getBlockByNumber')) {
      const result = body.includes('eth_chainId') ? '"0x1"' : LINK;
      response.end(toAnswer(id, result));
      return;
    }
    open.add(response);
    response.on('close', () => open.delete(response));
    says(response, id);
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const upstream = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, rpc: {timeoutMs: 1000}, upstreams: [{url: '${upstream}'}]}
  - {id: patient, family: evm, chainId: 1, upstreams: [{url: '${upstream}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks, answerMemoryBytes: 8_000_000 });
  key = (await at.makeKey()).key;
});
afterAll(async () => {
  await at?.close();
  node?.closeAllConnections();
  node?.close();
});
beforeEach(() => {
  says = (response, id) => response.end(toAnswer(id, LARGE));
});

const TRANSACTION = `{"id":1,"method":"eth_getTransactionByHash","params":["${HASH}"]}`;
const LOGS = `{"id":1,"method":"eth_getLogs","params":[{"blockHash":"${HASH}"}]}`;
const post = (network: string, body: string) =>
  ask(at.url, `/${network}/v1/${key}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });

/** Sends a request, and stops reading after the beginning of its answer. */
function stall(network: string, body: string): Promise<Socket> {
  const { hostname, port } = new URL(at.url);
  const head = `POST /${network}/v1/${key} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`),
    );
    socket.once('data', () => {
      socket.pause();
      resolve(socket);
    });
    socket.on('error', reject);
  });
}
const aborted = (): number => at.log.filter((line) => line.includes('"aborted":true')).length;

/** Closes the connection made by `work` after this long without traffic, once the answer has begun. */
async function cutAfter<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const connected = once(at.gateway.server, 'connection') as Promise<[Socket]>;
  const done = await work();
  const [socket] = await connected;
  socket.setTimeout(ms);
  return done;
}

it('who stops reading a streamed answer is cut, and the node let go', async () => {
  const before = aborted();
  const socket = await cutAfter(1_000, () => stall('patient', TRANSACTION));
  try {
    await vi.waitFor(() => expect(aborted()).toBe(before + 1), WAIT);
    await vi.waitFor(() => expect(open.size).toBe(0), WAIT);
  } finally {
    socket.destroy();
  }
});

it('who stops reading a streamed answer keeps no node for longer than a call may take', async () => {
  const socket = await stall('main', TRANSACTION);
  try {
    await vi.waitFor(() => expect(open.size).toBe(0), WAIT);
  } finally {
    socket.destroy();
  }
  says = (response, id) => response.end(toAnswer(id, '"0x1"'));
  // On a slow machine a call may take longer than it may here.
  await vi.waitFor(async () => {
    expect((await post('main', TRANSACTION)).json()).toMatchObject({ result: '0x1' });
  }, WAIT);
});

it('who stops reading what is held for it is cut, and the memory given back to who waits for it', async () => {
  says = (response, id) => response.end(toAnswer(id, `[${LARGE}]`));
  const before = aborted();
  const socket = await cutAfter(1_000, () => stall('patient', LOGS));
  try {
    says = (response, id) => response.end(toAnswer(id, '[]'));
    // It waits for room, but not so long that it is refused.
    expect((await post('patient', LOGS)).json()).toMatchObject({ result: [] });
    expect(aborted()).toBeGreaterThan(before);
  } finally {
    socket.destroy();
  }
});

/** Sends a byte from time to time, for ever. */
function trickle(response: ServerResponse, beginning: string): void {
  response.write(beginning);
  const timer = setInterval(() => response.write('a'), 50);
  response.on('close', () => clearInterval(timer));
}

it('a node that trickles its answer is given up when the time of the call is over', async () => {
  says = (response, id) => trickle(response, toAnswer(id, '"').slice(0, -1));
  for (const body of [TRANSACTION, LOGS]) {
    const answer = await post('main', body);
    expect([answer.status, answer.json()]).toMatchObject([
      504,
      { id: 1, error: { code: -32002, data: { reason: 'upstream-timeout' } } },
    ]);
  }
  await vi.waitFor(() => expect(open.size).toBe(0), WAIT);
});

it('a node that trickles the rest of what is streamed already is given up too, and nothing looks whole', async () => {
  says = (response, id) => trickle(response, toAnswer(id, `"${'a'.repeat(1_000_000)}`).slice(0, -1));
  const text = await post('main', TRANSACTION).then(
    (answer) => answer.text,
    (error: NodeJS.ErrnoException) => String(error.code),
  );
  expect(() => JSON.parse(text) as unknown).toThrow();
  await vi.waitFor(() => expect(open.size).toBe(0), WAIT);
});
