import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { startScriptedGateway } from '../testing/scripted-gateway.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startNetworks, type TestGateway } from '../testing/test-gateway.js';

/** More than is read before the first byte is sent. */
const LARGE = 'ab'.repeat(2_000_000);
const ENVELOPE = '{"jsonrpc":"2.0","id":1,"result":""}'.length;

let node: ScriptedNode;
let at: TestGateway;
let key: string;
let whole = true;

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method }) => {
    if (method !== 'eth_getTransactionByHash') return { result: null };
    const body = `{"jsonrpc":"2.0","id":1,"result":"${LARGE}"}`;
    // A node breaks off in the middle by sending less than the announced length.
    return { status: 200, body: whole ? body : body.slice(0, 3_000_000) };
  });
  ({ at, key } = await startNetworks(
    `networks:\n  - {id: main, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`,
  ));
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});

const text = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_getTransactionByHash',
  params: [`0x${'1'.repeat(64)}`],
});
const post = (body = text) =>
  ask(at.url, `/main/v1/${key}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

it('a large result is handed on whole, to many at once, alone and in a batch', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => post()));
  for (const answer of answers) expect(answer.text.length).toBe(ENVELOPE + LARGE.length);
  expect(answers[0]?.json().result === LARGE).toBe(true);
  const [one, two] = (await post(`[${text},${text}]`)).json() as unknown as { result: string }[];
  expect(one?.result === LARGE && two?.result === LARGE).toBe(true);
});

it('what a node breaks off in the middle is never handed on as if it were whole', async () => {
  whole = false;
  try {
    const alone = await post().then(
      ({ text: got }) => got,
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(() => JSON.parse(alone as string) as unknown).toThrow();
    const batch = await post(`[${text}]`);
    expect([batch.status, batch.json()]).toMatchObject([
      200,
      [{ id: 1, error: { code: expect.any(Number) } }],
    ]);
  } finally {
    whole = true;
  }
});

it('a client that goes away in the middle leaves nothing behind, and the next one is answered', async () => {
  const { hostname, port } = new URL(at.url);
  const head = `POST /main/v1/${key} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
  for (let n = 0; n < 20; n++) {
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(`${head}content-length: ${text.length}\r\n\r\n${text}`),
      );
      socket.once('data', () => socket.destroy());
      socket.once('close', () => resolve());
      socket.once('error', reject);
    });
  }
  // More than the connections to the node, had they been kept.
  expect((await post()).text.length).toBe(ENVELOPE + LARGE.length);
  expect(at.log.filter((line) => line.includes('The gateway failed'))).toEqual([]);
});

it.each([100_000, 300_000, 2_000_000])(
  'what a node cuts off after %i bytes is handed on whole if another has it, alone and in a batch',
  async (bytes) => {
    const gate = await startScriptedGateway(['id: main, family: evm, chainId: 1'], { nodes: 2 });
    try {
      gate.nodes.forEach((each, index) => {
        each.answer(({ method }) => {
          if (method === 'eth_chainId') return { result: '0x1' };
          if (method !== 'eth_getTransactionByHash') return { result: { number: '0x1' } };
          const body = `{"jsonrpc":"2.0","id":1,"result":"${LARGE}"}`;
          return { status: 200, body: index === 0 ? body.slice(0, bytes) : body };
        });
      });
      const send = (body: string) =>
        ask(gate.at.url, `/main/v1/${gate.key}`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
        });
      const alone = await send(text);
      expect([alone.status, alone.json().result === LARGE]).toEqual([200, true]);
      const [one] = (await send(`[${text}]`)).json() as unknown as { result: string }[];
      expect(one?.result === LARGE).toBe(true);
    } finally {
      await gate.close();
    }
  },
);
