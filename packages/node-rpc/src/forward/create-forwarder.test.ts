import { describe, expect, it } from 'vitest';
import { type Handler, RpcError, type ScriptedNode, withId } from '../../test/scripted-node.js';
import { call, expectNotAsked, forwarders, getText, until, without } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

describe('a call', () => {
  it('sends the parameters as they are and gives the result as it is', async () => {
    const one = await node();
    const text = '{"jsonrpc":"2.0","id":1,"result":{"big":12345678901234567890, "z":1.50}}';
    one.intercept = (request, response) => Boolean(response.end(withId(text, request)));
    const { forwarder } = forwarderTo([one]);
    expect(await getText(await call(forwarder, { params: '[ 1.0 ]' }))).toBe(
      '{"big":12345678901234567890, "z":1.50}',
    );
    expect(one.requests[0]?.calls).toMatchObject([{ method: 'm', params: [1] }]);
  });

  it.each([300_000, 5_000_000])('hands on a result of %i bytes whole', async (length) => {
    const value = 'ab'.repeat(length / 2);
    const { forwarder } = forwarderTo([await node(() => value)]);
    const answer = await call(forwarder);
    expect(answer).toMatchObject({ body: { rest: expect.anything() } });
    expect(await getText(answer)).toBe(JSON.stringify(value));
    expect(await call(forwarder, { whole: true })).toMatchObject({ body: { rest: null } });
  });

  it('refuses what is larger than its limit', async () => {
    const { forwarder } = forwarderTo([await node(() => 'a'.repeat(10_000))]);
    expect(await call(forwarder, { maxBytes: 5_000 })).toMatchObject({ kind: 'failed', reason: 'too-large' });
  });

  it('about something else is not read to its end, however large', async () => {
    const one = await node(() => 'ab'.repeat(10_000_000));
    const { forwarder } = forwarderTo([one]);
    expect(await call(forwarder, without('ab'))).toMatchObject({ reason: 'nonsense' });
    await one.when(() => one.sockets.size === 0);
  });

  it('gives a node’s own error as it is, and asks nobody else', async () => {
    const [one, two] = [await node(), await node()];
    const error = '{"code":3,"message":"execution reverted","data":"0x08c379a0"}';
    one.intercept = (request, response) =>
      Boolean(response.end(withId(`{"jsonrpc":"2.0","id":1,"error":${error}}`, request)));
    const { forwarder, context } = forwarderTo([one, two]);
    for (let n = 0; n < 20; n++) {
      const answer = await call(forwarder);
      expect(answer).toMatchObject({ kind: 'error', code: 3 });
      expect(answer.kind === 'error' && answer.error.toString()).toBe(error);
    }
    await expectNotAsked(two, context);
    expect(forwarder.status()[0]?.healthy).toBe(true);
  });
});

describe('failover', () => {
  it.each<[string, (one: ScriptedNode) => void]>([
    ['is gone', (one) => void one.close()],
    [
      'hangs up',
      (one) => {
        one.intercept = (_, __, raw) => Boolean(raw.socket.destroy());
      },
    ],
    [
      'answers HTTP 500',
      (one) => {
        one.intercept = (_, response) => Boolean(response.writeHead(500).end('no'));
      },
    ],
    [
      'answers HTTP 429',
      (one) => {
        one.intercept = (_, response) => Boolean(response.writeHead(429).end('{}'));
      },
    ],
    [
      'speaks HTML',
      (one) => {
        one.intercept = (_, response) => Boolean(response.end('<html></html>'));
      },
    ],
    [
      'breaks off',
      (one) => {
        const text = '{"jsonrpc":"2.0","id":1,"result":[1,';
        one.intercept = (request, response) => Boolean(response.end(withId(text, request)));
      },
    ],
    [
      'asks for fewer requests',
      (one) => {
        one.handler = () => {
          throw new RpcError(-32005, 'rate limit exceeded');
        };
      },
    ],
    [
      'lacks the method',
      (one) => {
        one.handler = () => {
          throw new RpcError(-32601, 'the method does not exist');
        };
      },
    ],
    [
      'has pruned the state',
      (one) => {
        one.handler = () => {
          throw new RpcError(-32000, 'missing trie node abc');
        };
      },
    ],
  ])('asks the next node where one %s', async (_, spoil) => {
    const [one, two] = [await node(), await node(() => 'two')];
    spoil(one);
    const { forwarder } = forwarderTo([one, two]);
    expect(await getText(await call(forwarder))).toBe('"two"');
  });

  it('asks nobody twice for what must not happen twice, unless it surely never arrived', async () => {
    const [one, two] = [await node(), await node(() => 'two')];
    one.intercept = (_, __, raw) => Boolean(raw.socket.destroy());
    const { forwarder } = forwarderTo([one, two]);
    expect(await call(forwarder, { idempotent: false })).toMatchObject({
      kind: 'failed',
      reason: 'unavailable',
    });
    expect(two.requests).toEqual([]);
    await one.close();
    expect(await getText(await call(forwarder, { idempotent: false }))).toBe('"two"');
  });

  it('hands on what the nodes said where none has it', async () => {
    const missing: Handler = () => {
      throw new RpcError(-32601, 'the method does not exist');
    };
    const { forwarder } = forwarderTo([await node(missing), await node(missing)]);
    expect(await call(forwarder)).toMatchObject({ kind: 'error', code: -32601 });
  });

  it('rests a node that keeps failing, and asks it again later', async () => {
    const [one, two] = [await node(() => 'one'), await node(() => 'two')];
    let broken = true;
    one.intercept = (_, response) => broken && Boolean(response.writeHead(500).end());
    const { forwarder } = forwarderTo([one, two]);
    for (let n = 0; n < 10; n++) expect(await getText(await call(forwarder))).toBe('"two"');
    const before = one.requests.length;
    expect(before).toBeLessThan(10);
    expect(forwarder.status()[0]?.healthy).toBe(false);
    broken = false;
    const deadline = Date.now() + 60_000;
    while ((await getText(await call(forwarder))) !== '"one"') expect(Date.now()).toBeLessThan(deadline);
    expect(forwarder.status()[0]?.healthy).toBe(true);
  });
});

it('asks a second node when the first takes long, and lets the first go', async () => {
  const [one, two] = [await node(), await node(() => 'two')];
  one.intercept = () => true;
  const { forwarder } = forwarderTo([one, two]);
  expect(await getText(await call(forwarder))).toBe('"two"');
  await one.when(() => one.inFlight === 0);
});

it('says that nobody answered in time', async () => {
  const one = await node();
  one.intercept = () => true;
  const { forwarder } = forwarderTo([one]);
  expect(await call(forwarder, { timeoutMs: 200 })).toMatchObject({ kind: 'failed', reason: 'timeout' });
  await one.when(() => one.inFlight === 0);
});

it('lets a node go when nobody waits for its answer any more', async () => {
  const one = await node();
  one.intercept = () => true;
  const { forwarder } = forwarderTo([one]);
  const stop = new AbortController();
  const asked = call(forwarder, { signal: stop.signal });
  await one.when(() => one.inFlight === 1);
  stop.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
  await one.when(() => one.inFlight === 0);
});

it('asks a node that is behind last', async () => {
  const at =
    (head: number): Handler =>
    ({ method, params }) => {
      if (method === 'm') return head;
      return { number: `0x${(params[0] === 'finalized' ? head - 2 : head).toString(16)}` };
    };
  const nodes = [await node(at(50)), await node(at(60))];
  const { forwarder } = forwarderTo(nodes, { network: { family: 'evm' } });
  await until(() => forwarder.status().every(({ head }) => head !== null) && forwarder.finalized() === 58);
  expect(await getText(await call(forwarder))).toBe('60');
  expect(forwarder.head()).toBe(60);
});

it('writes no address and no credential of a node anywhere', async () => {
  const one = await node();
  await one.close();
  const secret = 'a-very-secret-path-segment';
  const upstream = { url: `${one.url}/${secret}`, headers: { 'x-key': secret } };
  const { forwarder, context } = forwarderTo([one], { upstreams: [upstream] });
  const answers = [];
  for (let n = 0; n < 8; n++) answers.push(await call(forwarder));
  const told = JSON.stringify(answers) + context.lines.join('') + (await context.metrics.render());
  expect(told).not.toContain(secret);
  expect(JSON.stringify(answers)).not.toContain('127.0.0.1');
});
