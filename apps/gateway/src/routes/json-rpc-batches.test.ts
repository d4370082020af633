import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedAnswer, type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startNetworks, type TestGateway } from '../testing/test-gateway.js';

const WAIT = { timeout: 60_000 };
const CALLS = 1_000;
/** Calls of one batch that run at the same time. */
const AT_ONCE = 8;
const CLIENTS = 50;
/** More than eight of these fit into what a batch may hold. */
const LARGE = 'ab'.repeat(50_000);

let node: ScriptedNode;
let at: TestGateway;
let key: string;
let says: (client: number, call: number) => ScriptedAnswer | Promise<ScriptedAnswer>;
/** The calls that reached the node, as client and number within its batch. */
let asked: [client: number, call: number][];

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method, params }) => {
    if (method !== 'eth_getTransactionByHash') return { result: null };
    const hash = String(params[0]);
    const mine: [number, number] = [Number(hash.slice(2, 34)), Number(hash.slice(34))];
    asked.push(mine);
    return says(...mine);
  });
  // How requests to nodes are shared out is seen where each has one call.
  const upstream = (more: string): string => `upstreams: [{url: '${node.url}', ${more}}]`;
  const upstreams = upstream('maxInFlight: 1000, batchCalls: false');
  ({ at, key } = await startNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, rpc: {maxAnswerBytes: 1000000, timeoutMs: 120000}, ${upstreams}}
  - {id: narrow, family: evm, chainId: 1, ${upstream('maxInFlight: 16, batchCalls: false')}}
  - {id: joined, family: evm, chainId: 1, ${upstream('maxInFlight: 16, batchCalls: true')}}`,
  ));
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});
beforeEach(() => {
  asked = [];
  says = () => ({ result: '0x1' });
});

const callText = (client: number, call: number): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: call,
    method: 'eth_getTransactionByHash',
    params: [`0x${String(client).padStart(32, '0')}${String(call).padStart(32, '0')}`],
  });
const batchText = (client: number, calls: number): string =>
  `[${Array.from({ length: calls }, (_, call) => callText(client, call)).join()}]`;
const options = { method: 'POST', headers: { 'content-type': 'application/json' } };
const post = (body: string, network = 'main') => ask(at.url, `/${network}/v1/${key}`, { ...options, body });

/** Sends a batch without waiting for its answer. */
function begin(body: string, agent?: Agent, network = 'main') {
  const sent = request(`${at.url}/${network}/v1/${key}`, {
    ...options,
    ...(agent === undefined ? {} : { agent }),
  });
  sent.on('error', () => undefined).end(body);
  return sent;
}

it.each(['main', 'joined'])(
  'a batch of %s has 1,000 calls, all of them answered in their order',
  async (network) => {
    says = (_, call) => (call === 500 ? { error: { code: 3, message: 'reverted' } } : { result: { call } });
    const answers = (await post(batchText(1, CALLS), network)).json() as unknown as object[];
    expect(answers).toEqual(
      Array.from({ length: CALLS }, (_, call) => ({
        jsonrpc: '2.0',
        id: call,
        ...(call === 500 ? { error: { code: 3, message: 'reverted' } } : { result: { call } }),
      })),
    );
  },
);

it('an answer is sent when those before it are, whatever comes later, and a failing call is refused by itself', async () => {
  let release = (_: ScriptedAnswer): void => undefined;
  const held = new Promise<ScriptedAnswer>((resolve) => {
    release = resolve;
  });
  says = (_, call) => (call === 2 ? held : { result: `0x${call}` });
  const sent = begin(batchText(2, 4));
  const [response] = await once(sent, 'response');
  let text = '';
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await vi.waitFor(() => expect(text).toContain('"0x1"}'), WAIT);
  expect(JSON.parse(`${text}]`)).toMatchObject([{ id: 0 }, { id: 1 }]);
  release('reset');
  await once(response, 'end');
  expect(JSON.parse(text)).toMatchObject([
    { id: 0, result: '0x0' },
    { id: 1, result: '0x1' },
    { id: 2, error: { code: -32002, data: { reason: 'upstream-unavailable' } } },
    { id: 3, result: '0x3' },
  ]);
});

it('slow batches of 50 clients are bounded and get on alike, and end with their clients', async () => {
  const waiting: (() => void)[] = [];
  says = () => new Promise((resolve) => waiting.push(() => resolve({ result: '0x1' })));
  const agent = new Agent({ maxSockets: CLIENTS });
  const before = at.log.length;
  const clients = Array.from({ length: CLIENTS }, (_, client) => begin(batchText(client, CALLS), agent));
  const ROUNDS = 3;
  for (let round = 1; round <= ROUNDS; round++) {
    // As many as may run, and as many of each client.
    await vi.waitFor(() => expect(asked.length).toBe(round * CLIENTS * AT_ONCE), WAIT);
    for (let client = 0; client < CLIENTS; client++) {
      expect(asked.filter(([who]) => who === client)).toHaveLength(round * AT_ONCE);
    }
    if (round < ROUNDS) for (const answer of waiting.splice(0)) answer();
  }
  for (const client of clients) client.destroy();
  await vi.waitFor(() => {
    const ended = at.log.slice(before).filter((line) => line.includes('"aborted":true'));
    expect(ended).toHaveLength(CLIENTS);
  }, WAIT);
  for (const answer of waiting.splice(0)) answer();
  says = () => ({ result: '0x1' });
  await post(batchText(CLIENTS, 1));
  expect(asked).toHaveLength(ROUNDS * CLIENTS * AT_ONCE + 1);
});

it('batches leave some connections to a node for single calls, and take turns', async () => {
  const clients = 5;
  /** Three quarters of the connections. */
  const turns = 12;
  const waiting: (() => void)[] = [];
  says = (client) => {
    if (client === clients) return { result: 'single' };
    return new Promise((resolve) => waiting.push(() => resolve({ result: '0x1' })));
  };
  const agent = new Agent({ maxSockets: clients });
  const sent = Array.from({ length: clients }, (_, client) => begin(batchText(client, 100), agent, 'narrow'));
  const rounds = 10;
  for (let round = 1; round <= rounds; round++) {
    await vi.waitFor(() => expect(asked.length).toBe(round * turns), WAIT);
    if (round < rounds) for (const answer of waiting.splice(0)) answer();
  }
  expect((await post(callText(clients, 0), 'narrow')).json()).toMatchObject({ result: 'single' });
  const shares = sent.map((_, client) => asked.filter(([who]) => who === client).length);
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(AT_ONCE);
  for (const client of sent) client.destroy();
  says = () => ({ result: 'next' });
  // Those who are gone do not keep their turns.
  const [next] = (await post(batchText(clients + 1, 1), 'narrow')).json() as unknown as object[];
  expect(next).toMatchObject({ result: 'next' });
  for (const answer of waiting.splice(0)) answer();
});

it('a client that does not read stops its batch, and the others go on', async () => {
  const calls = 400;
  says = (client) => ({ result: client === 3 ? LARGE : '0x1' });
  const before = at.log.length;
  const sent = begin(batchText(3, calls));
  const [response] = await once(sent, 'response');
  response.on('error', () => undefined).pause();
  const held = async (): Promise<number> => {
    const { text } = await ask(at.url, '/metrics');
    return Number(/cache_bytes\{cache="held"\} (\d+)/.exec(text)?.[1]);
  };
  // Stopped: nothing runs, though most calls were not made.
  await vi.waitFor(async () => {
    expect(await at.context.metrics.render()).toContain('packhouse_rpc_in_flight{network="main"} 0\n');
    expect(await held()).toBeGreaterThan(0);
  }, WAIT);
  expect(asked.length).toBeLessThan(calls / 2);
  expect(await held()).toBeLessThan(2_000_000);
  expect((await post(batchText(4, 20))).json()).toHaveLength(20);
  sent.destroy();
  await vi.waitFor(
    () => expect(at.log.slice(before).some((line) => line.includes('"aborted":true'))).toBe(true),
    WAIT,
  );
  expect(await held()).toBe(0);
});

it('answers that wait are together as large as one may be, and the others are refused by themselves', async () => {
  let release = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    release = resolve;
  });
  says = async (_, call) => {
    if (call === 0) await first;
    return { result: 'x'.repeat(400_000) };
  };
  const answering = post(batchText(6, 5));
  await vi.waitFor(async () => {
    expect(asked).toHaveLength(5);
    expect(await at.context.metrics.render()).toContain('packhouse_rpc_in_flight{network="main"} 1\n');
  }, WAIT);
  release();
  const answers = (await answering).json() as unknown as { id: number }[];
  expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
  // That whose turn it is fits in any case.
  expect(answers[0]).toMatchObject({ result: expect.any(String) });
  expect(answers.filter((answer) => 'result' in answer)).toHaveLength(3);
  expect(answers.filter((answer) => 'error' in answer)).toMatchObject(
    Array(2).fill({ error: { code: -32005, data: { reason: 'answer-too-large', limit: 1_000_000 } } }),
  );
});

it('a client that reads slowly gets more than may be held at a time', async () => {
  says = () => ({ result: LARGE });
  const answers = (await post(batchText(5, 30))).json() as unknown as { id: number; result: string }[];
  expect(answers.map(({ id, result }) => [id, result === LARGE])).toEqual(
    Array.from({ length: 30 }, (_, id) => [id, true]),
  );
});
