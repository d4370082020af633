import { expect, it } from 'vitest';
import { RpcError } from '../../test/scripted-node.js';
import { forwarders, timesAsked, until } from '../../test/test-forwarder.js';

const use = forwarders();
const request = {
  method: 'send',
  params: '[]',
  idempotent: true,
  timeoutMs: 30_000,
  maxBytes: 1_000,
  signal: new AbortController().signal,
};

it('asks so many upstreams at once, and one more in the place of each that cannot be asked', async () => {
  const nodes = [
    await use.node(() => {
      throw new RpcError(-32_000, 'nonce too low');
    }),
    await use.node(),
    await use.node(),
    await use.node(),
  ];
  await nodes[1]?.close();
  const { forwarder } = use.forwarderTo(nodes);
  const answers = await Promise.all(forwarder.broadcast(request, 2));
  expect(answers).toMatchObject([{ kind: 'error' }, { kind: 'result', upstream: 'node-3' }]);
  expect(nodes.map((node) => timesAsked(node, 'send'))).toEqual([1, 0, 1, 0]);
});

it('goes on when the client has gone', async () => {
  const node = await use.node();
  const { forwarder } = use.forwarderTo([node]);
  const answers = forwarder.broadcast({ ...request, signal: AbortSignal.abort(new Error('gone')) }, 3);
  expect(await Promise.all(answers)).toMatchObject([{ kind: 'result' }]);
  await until(() => timesAsked(node, 'send') === 1);
});

it('ends with its time, and with the forwarder', async () => {
  const node = await use.node();
  // It takes requests and never answers.
  node.intercept = () => true;
  const { forwarder } = use.forwarderTo([node]);
  const [late] = await Promise.all(forwarder.broadcast({ ...request, timeoutMs: 50 }, 3));
  expect(late).toEqual({ kind: 'failed', reason: 'timeout', detail: 'no node answered within 50 ms' });
  const [open] = forwarder.broadcast(request, 3);
  await forwarder.close();
  expect(await open).toMatchObject({ kind: 'failed' });
});
