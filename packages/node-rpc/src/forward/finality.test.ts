import { expect, it } from 'vitest';
import { type Handler, RpcError, type ScriptedNode } from '../../test/scripted-node.js';
import { forwarders, timesAsked, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

/** A node with so many blocks; `finalized` answers for the tag. */
function at(head: number, finalized: () => unknown): Handler {
  return ({ method, params }) => {
    if (method === 'eth_chainId') return '0x1';
    return params[0] === 'finalized' ? finalized() : { number: `0x${head.toString(16)}` };
  };
}
const final = (number: number) => (): unknown => ({ number: `0x${number.toString(16)}` });
const refusing =
  (code: number, message: string): (() => never) =>
  () => {
    throw new RpcError(code, message);
  };
const network = { family: 'evm', chainId: 1, finality: { tag: true, depth: 5 } } as const;

/** Waits until a node has answered two more rounds of questions. */
async function rounds(of: ScriptedNode): Promise<void> {
  const before = timesAsked(of, 'eth_getBlockByNumber');
  await until(() => timesAsked(of, 'eth_getBlockByNumber') >= before + 5);
}

it.each<[string, () => unknown]>([
  ['an internal error', refusing(-32603, 'internal error')],
  ['a rate that is exceeded', refusing(-32005, 'rate limit exceeded')],
  ['nothing final any more', () => null],
  ['a tag that is not known any more', refusing(-32602, 'invalid argument')],
])('keeps what a node said was final where the next question gives %s', async (_, answer) => {
  const one = await node(at(60, final(50)));
  const { forwarder } = forwarderTo([one], { network });
  await until(() => forwarder.finalized() === 50);
  one.handler = at(200, answer);
  await until(() => forwarder.head() === 200);
  await rounds(one);
  expect(forwarder.finalized()).toBe(50);
});

it('knows nothing final of a node whose first answer to that fails', async () => {
  const one = await node(at(60, refusing(-32603, 'internal error')));
  const { forwarder } = forwarderTo([one], { network });
  await until(() => forwarder.head() === 60);
  await rounds(one);
  expect(forwarder.finalized()).toBeNull();
});

it.each<[string, () => unknown]>([
  ['refuses the tag', refusing(-32602, 'invalid argument 0: hex string without 0x prefix')],
  ['has never had a final block', refusing(-32000, 'finalized block not found')],
  ['answers null', () => null],
])('goes by the depth behind a node that %s', async (_, answer) => {
  const { forwarder } = forwarderTo([await node(at(60, answer))], { network });
  await until(() => forwarder.finalized() === 55);
});

it('takes nothing for final by its depth that is above what another node says', async () => {
  const [without, knowing] = [await node(at(60, () => null)), await node(at(60, final(40)))];
  let answering = false;
  // The upstream that knows the tag is slow at first: the other's depth must not count until then.
  knowing.intercept = async () => {
    await until(() => answering);
    return false;
  };
  const { forwarder } = forwarderTo([without, knowing], { network });
  await rounds(without);
  expect(forwarder.finalized()).toBeNull();
  answering = true;
  await until(() => forwarder.finalized() === 40);
  await rounds(without);
  expect(forwarder.finalized()).toBe(40);
});
