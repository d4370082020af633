import { beforeEach, describe, expect, it } from 'vitest';
import { RpcError, type ScriptedNode } from '../../test/scripted-node.js';
import { call, changeTimers, expectNotAsked, forwarders, getText } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();
// No node is asked beside one that a busy machine makes late.
beforeEach(() => changeTimers({ 100: 60_000 }));

/** Errors that say nothing which every node would have to say of a read. */
const ERRORS: readonly (readonly [code: number, message: string, source: string])[] = [
  [-32000, 'failed to find transaction in block', 'sei-chain#1815'],
  [-32000, 'transaction and receipt count mismatch', 'erigon#3438'],
  [-32503, 'Errors from the following providers prevented an answer', 'squid-sdk#501'],
  [-32000, 'invalid block range params', 'nitro#3666'],
  [-32602, 'invalid argument 0: hex string has length 2, want 64', 'a form that the node does not know'],
  [-32600, 'Invalid Request', 'JSON-RPC 2.0'],
  [-32700, 'parse error', 'JSON-RPC 2.0'],
  [-32015, 'VM execution error.', 'Nethermind'],
  [3, 'execution reverted', 'geth'],
  [26, 'Unknown error', 'an aggregator'],
  [0, '', 'no code and no text'],
];

async function refusing(code: number, message: string): Promise<ScriptedNode> {
  return node(() => {
    throw new RpcError(code, message);
  });
}

describe.each(ERRORS)('error %i "%s" (%s)', (code, message) => {
  it('to a checked read has the other node asked, and is not held against the node', async () => {
    const [one, two] = [await refusing(code, message), await node(() => 'two')];
    const { forwarder } = forwarderTo([one, two]);
    for (let n = 1; n <= 7; n++) {
      expect(await getText(await call(forwarder, { checkedRead: true }))).toBe('"two"');
      expect(one.requests).toHaveLength(n);
    }
    expect(forwarder.status()[0]?.healthy).toBe(true);
  });

  it('to a checked read is the answer where no node does better, each asked once', async () => {
    const nodes = [await refusing(code, message)];
    for (const other of [-32000, -32601, -32602]) nodes.push(await refusing(other, 'something else'));
    const { forwarder } = forwarderTo(nodes);
    const answer = await call(forwarder, { checkedRead: true });
    expect(answer).toMatchObject({ kind: 'error', code, message, upstream: 'node-1' });
    expect(nodes.map(({ requests }) => requests.length)).toEqual([1, 1, 1, 1]);
  });

  it('to anything else is the caller’s', async () => {
    const [one, two] = [await refusing(code, message), await node(() => 'two')];
    const { forwarder, context } = forwarderTo([one, two]);
    expect(await call(forwarder)).toMatchObject({ kind: 'error', code, message });
    await expectNotAsked(two, context);
  });
});

it('a refused range of logs is the answer: a smaller one is asked for', async () => {
  const [one, two] = [await refusing(-32005, 'exceed maximum block range 10'), await node(() => [])];
  const { forwarder, context } = forwarderTo([one, two]);
  const answer = await call(forwarder, { method: 'eth_getLogs', checkedRead: true });
  expect(answer).toMatchObject({ kind: 'error', code: -32005 });
  await expectNotAsked(two, context);
});

it('an error to a checked read is a voice of a quorum', async () => {
  const nodes = [await refusing(-32000, 'whatever'), await refusing(-32000, 'whatever'), await node()];
  const { forwarder } = forwarderTo(nodes);
  const answer = await call(forwarder, { checkedRead: true, quorum: { agree: 2, of: 3 } });
  expect(answer).toMatchObject({ kind: 'error', code: -32000, message: 'whatever' });
});
