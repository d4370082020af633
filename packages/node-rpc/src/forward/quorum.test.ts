import { describe, expect, it } from 'vitest';
import { type Handler, RpcError, withId } from '../../test/scripted-node.js';
import { call, forwarders, getText, timesAsked } from '../../test/test-forwarder.js';
import type { ForwardAnswer } from './send/forward-request.js';

const { forwarderTo, node } = forwarders();

const says =
  (value: unknown): Handler =>
  () =>
    value;
const fails: Handler = () => {
  throw new RpcError(-32005, 'rate limit exceeded');
};
/** The answer of a pool of which `agree` of `of` must answer alike, and how often each node was asked. */
async function ask(handlers: readonly Handler[], agree = 2, of = 3) {
  const nodes = await Promise.all(handlers.map((each) => node(each)));
  const { forwarder } = forwarderTo(nodes);
  const answer: ForwardAnswer = await call(forwarder, { quorum: { agree, of } });
  return { answer, asked: nodes.map((one) => timesAsked(one, 'm')) };
}

describe('a quorum', () => {
  it.each<[string, Handler[], string, number[]]>([
    ['of two that agree', [says('0x1'), says('0x1'), says('0x2')], '"0x1"', [1, 1, 0]],
    ['after one that lies', [says('0x2'), says('0x1'), says('0x1')], '"0x1"', [1, 1, 1]],
    ['after one that fails', [fails, says('0x1'), says('0x1')], '"0x1"', [1, 1, 1]],
    ['about null', [says(null), says(null), says('0x1')], 'null', [1, 1, 0]],
    ['of other letters and order', [says({ a: '0xAB', b: null }), says({ a: '0xab' })], '{"a":"0x', [1, 1]],
  ])('is told the answer %s', async (_, handlers, text, counts) => {
    const { answer, asked } = await ask(handlers);
    expect((await getText(answer)).toLowerCase()).toContain(text);
    expect(asked).toEqual(counts);
  });

  it.each<[string, Handler[], string]>([
    [
      'two answers',
      [says('0x1'), says('0x2')],
      'nonsense: 2 nodes have to answer alike: node-1 answered "0x1", node-2 answered "0x2"',
    ],
    [
      'one answer and a failure',
      [says('0x1'), fails],
      'unavailable: 2 nodes have to answer alike: node-1 answered "0x1", node-2 did not (',
    ],
    ['one node', [says('0x1')], 'unavailable: 2 nodes have to answer alike: node-1 answered "0x1"'],
    ['an empty list and a log', [says([]), says([{ data: '0x' }])], 'answered [], node-2 answered [{"data"'],
  ])('refuses %s by name', async (_, handlers, text) => {
    const { answer } = await ask(handlers);
    expect(answer.kind === 'failed' && `${answer.reason}: ${answer.detail}`).toContain(text);
  });

  it('tells numbers apart that JavaScript cannot', async () => {
    const nodes = [await node(), await node()];
    for (const [at, one] of nodes.entries()) {
      const text = `{"jsonrpc":"2.0","id":1,"result":900719925474099${at + 2}}`;
      one.intercept = (request, response) => Boolean(response.end(withId(text, request)));
    }
    const { forwarder } = forwarderTo(nodes);
    expect(await call(forwarder, { quorum: { agree: 2, of: 2 } })).toMatchObject({ kind: 'failed' });
  });

  it('asks for no more answers than it may', async () => {
    const { asked } = await ask([says(1), says(2), says(3), says(3)], 2, 3);
    expect(asked).toEqual([1, 1, 1, 0]);
  });

  it('takes a revert for an answer, by its data', async () => {
    const askReverts = async (...errors: string[]): Promise<ForwardAnswer> => {
      const nodes = await Promise.all(errors.map(() => node()));
      for (const [at, one] of nodes.entries()) {
        const text = `{"jsonrpc":"2.0","id":1,"error":${errors[at]}}`;
        one.intercept = (request, response) => Boolean(response.end(withId(text, request)));
      }
      return call(forwarderTo(nodes).forwarder, { quorum: { agree: 2, of: 2 } });
    };
    const reverted = '{"code":3,"message":"execution reverted","data":"0x1"}';
    expect(await askReverts(reverted, '{"code":3,"message":"reverted","data":"0x1"}')).toMatchObject({
      kind: 'error',
      code: 3,
    });
    expect(
      await askReverts(reverted, '{"code":3,"message":"execution reverted","data":"0x2"}'),
    ).toMatchObject({
      kind: 'failed',
    });
  });
});
