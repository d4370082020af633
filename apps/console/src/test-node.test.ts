import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
/** A node of chain 5 that knows nothing else. */
const node = createServer((request, response) => {
  request.setEncoding('utf8');
  let body = '';
  request.on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => {
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    const answer =
      method === 'eth_chainId' ? { result: '0x5' } : { error: { code: -32601, message: 'no such method' } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
});
let url: string;
let admin: { authorization: string };
beforeAll(async () => {
  await new Promise<void>((done) => node.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  await on.database.networks.register({ id: 'main', chainId: 1 });
  admin = await on.token('admin');
});
afterAll(() => new Promise((done) => node.close(done)));

const ask = async (payload: object, headers = admin) =>
  (await on.ask({ method: 'POST', url: '/api/nodes/test', payload, headers: { ...headers } })).json();

test('an admin learns the chain of an address, and what its node lacks; nobody else makes the console connect', async () => {
  const { findings, ...found } = await ask({ network: 'five', url });
  expect(found).toMatchObject({ network: 'five', chainId: 5, usable: false, head: null });
  expect(findings.length).toBeGreaterThan(0);
  const refused = await ask({ network: 'five', url }, await on.token('operator'));
  expect(refused).toMatchObject({ error: { code: 'ROLE_TOO_LOW' } });
});

test('a node of another chain than that of the network is refused', async () => {
  expect(await ask({ network: 'main', url })).toMatchObject({
    error: {
      code: 'NODE_WRONG_CHAIN',
      message: 'Network "main" has chain id 1, and the node is on chain 5.',
    },
  });
});

test.each([
  ['http://127.0.0.1:1/s3cret', 'NODE_UNREACHABLE', '127.0.0.1:1'],
  // Variables of the console are no business of a node.
  [`http://127.0.0.1/\${DATABASE_URL}`, 'NETWORKS_FILE_INVALID', 'DATABASE_URL, which is not set'],
  ['file:///etc/passwd', 'NETWORKS_FILE_INVALID', 'url'],
])('%s is refused with %s, without its path', async (address, code, reason) => {
  const { error } = await ask({ network: 'five', url: address });
  expect(error).toMatchObject({ code, message: expect.stringContaining(reason) });
  expect(JSON.stringify(error)).not.toContain('s3cret');
});
