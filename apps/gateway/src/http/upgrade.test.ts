import { once } from 'node:events';
import { connect } from 'node:net';
import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let node: ScriptedNode;
let at: TestGateway;
let key: string;
beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(() => ({ result: '0x1' }));
  const upstreams = `upstreams: [{url: '${node.url}'}]`;
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, ${upstreams}}
  - {id: old, family: evm, chainId: 1, rpc: {open: true, httpErrors: always200}, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  ({ key } = await at.makeKey('free'));
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});

const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
};
const UPGRADE = 'connection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n';
const getText = (path: string, headers = '', version = '1.1'): string =>
  `GET ${path} HTTP/${version}\r\nhost: a\r\n${headers}\r\n`;

/** Sends a text in one packet, and resolves with all answers once the connection has ended. */
async function talk(text: string): Promise<string[]> {
  const { hostname, port } = new URL(at.url);
  const socket = connect(Number(port), hostname, () => socket.write(text));
  let told = '';
  socket.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  await once(socket, 'close');
  return told.split(/(?=HTTP\/1\.1 )/);
}

describe('a request for WebSocket', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/healthz'],
    ['GET', '/nothing/here'],
    ['GET', '/main/v1/'],
    ['GET', '/main/v1/KEY'],
    ['GET', '/main/v1/KEY/bundle-api/blocks/1'],
    ['GET', '/main/files/blocks/1-2.json.gz'],
    ['GET', '/old/v1/'],
    ['GET', '/old/v1/anything'],
    ['POST', '/main/v1/KEY'],
    ['POST', '/old/v1/'],
    ['PUT', '/main/v1/KEY/nft-api/refresh'],
  ])('answers %s %s with 426, what is spoken here, and what to use instead', async (method, path) => {
    const answer = await ask(at.url, path.replace('KEY', key), { method, headers: HANDSHAKE });
    expect(answer.status).toBe(426);
    expect(answer.headers).toMatchObject({ upgrade: 'HTTP/1.1', connection: 'close, upgrade' });
    expect(answer.text).toMatch(
      /"WebSocket is not supported: send calls as POST over HTTP, and poll [^"]*\."/,
    );
    const { error = answer.json() } = answer.json();
    expect(error).toMatchObject({ code: -32600 });
    expect(JSON.stringify(error)).toContain('"upgrade-required"');
  });

  it('costs nothing, and is refused without a valid key too', async () => {
    const mine = await ask(at.url, `/main/v1/${key}`, { headers: HANDSHAKE });
    expect(mine.headers['ratelimit-cost']).toBe('0');
    expect((await ask(at.url, '/main/v1/nobody', { headers: HANDSHAKE })).status).toBe(426);
  });

  it('leaves no request behind it unanswered on an open connection: it closes, after the answers before it', async () => {
    const answers = await talk(
      getText('/healthz') + getText('/', UPGRADE) + getText('/healthz') + getText('/healthz'),
    );
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['200', '426']);
    expect(answers[0]).toMatch(/\r\nConnection: keep-alive\r\n/);
    expect(answers[1]).toMatch(/\r\nconnection: close, upgrade\r\n/);
  });

  it('and with a body closes as well, which is not read', async () => {
    const call = '{"id":1,"method":"eth_chainId"}';
    const head = `POST /main/v1/${key} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${UPGRADE}`;
    const answers = await talk(`${head}content-length: ${call.length}\r\n\r\n${call}${getText('/healthz')}`);
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['426']);
    expect(answers[0]).toMatch(/\r\nconnection: close, upgrade\r\n/);
  });
});

describe('is not meant', () => {
  it.each([
    [
      'h2c',
      { ...HANDSHAKE, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' },
    ],
    ['TLS', { connection: 'upgrade', upgrade: 'TLS/1.2, HTTP/1.1' }],
    ['websocket, but not of this connection', { connection: 'keep-alive', upgrade: 'websocket' }],
    ['nothing', { connection: 'upgrade' }],
    ['something that only looks like it', { connection: 'upgrade', upgrade: 'websockets, x-websocket' }],
  ])('by an upgrade to %s: it is answered as if it had not asked', async (_, headers) => {
    const answer = await ask(at.url, '/healthz', { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.upgrade).toBeUndefined();
  });

  it('by HTTP/1.0', async () => {
    const [answer] = await talk(getText('/healthz', UPGRADE, '1.0'));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('by h2c, whose answer closes the connection: nothing behind it on a pipeline waits for ever', async () => {
    const h2c = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n';
    const call = '{"id":1,"method":"eth_chainId"}';
    const head = `POST /main/v1/${key} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${h2c}`;
    const post = `${head}content-length: ${call.length}\r\n\r\n${call}`;
    for (const text of [getText('/healthz', h2c), post]) {
      const answers = await talk(getText('/healthz') + text + getText('/healthz'));
      expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['200', '200']);
      expect(answers[1]).toMatch(/\r\nconnection: close\r\n/i);
    }
  });
});
