import { describe, expect, it } from 'vitest';
import { RpcError, type ScriptedNode, withId } from '../../test/scripted-node.js';
import { call, expectNotAsked, forwarders, getText } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

function answering(
  one: ScriptedNode,
  status: number,
  error: object,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, error });
  one.intercept = (request, response) =>
    Boolean(response.writeHead(status, headers).end(withId(text, request)));
}

describe('an error of a node under', () => {
  it.each([401, 402, 403, 407, 408, 429, 500, 502, 503, 504])(
    'HTTP %i has another node asked, whatever it says, and is not handed on',
    async (status) => {
      const [one, two] = [await node(), await node(() => 'two')];
      for (const code of [3, -32000, -32602]) {
        answering(one, status, { code, message: 'invalid project id 7f3a' });
        expect(await getText(await call(forwarderTo([one, two]).forwarder))).toBe('"two"');
        const alone = await call(forwarderTo([one]).forwarder);
        expect(alone).toMatchObject({ kind: 'failed', reason: 'unavailable' });
        expect(JSON.stringify(alone)).not.toContain('7f3a');
      }
    },
  );

  it('HTTP 400 is the node’s answer', async () => {
    const [one, two] = [await node(), await node()];
    answering(one, 400, { code: -32602, message: 'missing value for required argument 0' });
    const { forwarder, context } = forwarderTo([one, two]);
    expect(await call(forwarder)).toMatchObject({ kind: 'error', code: -32602 });
    await expectNotAsked(two, context);
  });

  it('HTTP 401 has the node rest when it goes on, and the log says why', async () => {
    const [one, two] = [await node(), await node(() => 'two')];
    answering(one, 401, { code: -32000, message: 'unauthorized' });
    const { forwarder, context } = forwarderTo([one, two]);
    for (let n = 0; n < 6; n++) await call(forwarder);
    expect(one.requests).toHaveLength(5);
    expect(forwarder.status()[0]?.healthy).toBe(false);
    expect(context.lines.find((line) => line.includes('circuit opened'))).toContain('"reason":"HTTP 401"');
  });

  it.each([429, 503])('HTTP %i has the node asked last for as long as it wants', async (status) => {
    const [one, two] = [await node(), await node(() => 'two')];
    answering(one, status, { code: -32000, message: 'later' }, { 'retry-after': '30' });
    const { forwarder } = forwarderTo([one, two]);
    for (let n = 0; n < 3; n++) expect(await getText(await call(forwarder))).toBe('"two"');
    expect(one.requests).toHaveLength(1);
  });
});

it.each([404, 500])('lets go of a large result under HTTP %i', async (status) => {
  const one = await node();
  const text = `{"jsonrpc":"2.0","id":1,"result":"${'a'.repeat(20_000_000)}"}`;
  one.intercept = (request, response) => Boolean(response.writeHead(status).end(withId(text, request)));
  const { forwarder } = forwarderTo([one]);
  expect(await call(forwarder)).toMatchObject({ kind: 'failed', reason: 'unavailable' });
  await one.when(() => one.inFlight === 0);
});

it('takes an answer that is too large for what every node would say', async () => {
  const [one, two] = [await node(() => 'a'.repeat(10_000)), await node()];
  const { forwarder, context } = forwarderTo([one, two]);
  for (let n = 0; n < 6; n++) {
    expect(await call(forwarder, { maxBytes: 5_000 })).toMatchObject({ kind: 'failed', reason: 'too-large' });
  }
  await expectNotAsked(two, context);
  expect(forwarder.status()[0]?.healthy).toBe(true);
});

describe('eth_getLogs', () => {
  it.each([
    [200, -32005, 'limit exceeded'],
    [200, -32005, 'query returned more than 10000 results'],
    [200, -32005, 'response is too big'],
    [200, -32005, 'query exceeds max events 1000'],
    [200, -32002, 'query timeout exceeded'],
    [200, -32603, 'query timeout exceeded'],
    [500, -32000, 'query timeout exceeded'],
    [503, -32020, 'backend response too large'],
  ])('under HTTP %i, %i %s is about the range and not about the node', async (status, code, message) => {
    const [one, two] = [await node(), await node()];
    answering(one, status, { code, message });
    const { forwarder, context } = forwarderTo([one, two]);
    for (let n = 0; n < 6; n++) {
      expect(await call(forwarder, { method: 'eth_getLogs' })).toMatchObject({ kind: 'error', code });
    }
    await expectNotAsked(two, context);
    expect(forwarder.status()[0]?.healthy).toBe(true);
  });

  it.each([
    [200, -32005, 'rate limit exceeded'],
    [200, -32005, 'daily request count exceeded, request rate limited'],
    [200, -32005, 'project ID request rate exceeded'],
    [200, -32005, 'your monthly quota is exceeded, upgrade to get more logs'],
    [200, -32029, '25/second request limit reached'],
    [429, -32005, 'limit exceeded'],
  ])('under HTTP %i, %i %s is about the node', async (status, code, message) => {
    const [one, two] = [await node(), await node(() => [])];
    answering(one, status, { code, message });
    const { forwarder } = forwarderTo([one, two]);
    for (let n = 0; n < 2; n++)
      expect(await getText(await call(forwarder, { method: 'eth_getLogs' }))).toBe('[]');
    expect(one.requests).toHaveLength(1);
  });

  it('alone is read so', async () => {
    const [one, two] = [await node(), await node(() => 'two')];
    one.handler = () => {
      throw new RpcError(-32005, 'limit exceeded');
    };
    expect(await getText(await call(forwarderTo([one, two]).forwarder))).toBe('"two"');
  });
});
