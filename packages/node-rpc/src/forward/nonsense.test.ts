import { describe, expect, it } from 'vitest';
import { type ScriptedNode, withId } from '../../test/scripted-node.js';
import { call, forwarders, getText, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

function sends(one: ScriptedNode, text: string | Buffer): void {
  one.intercept = (request, response) => Boolean(response.end(withId(text, request)));
}
const items = (count: number): string => Array.from({ length: count }, (_, n) => `{"number":${n}}`).join();

describe('what is no JSON, though the connection ended well,', () => {
  it.each([
    ['is cut off before the last bracket', '{"id":1,"result":{"a":{"b":1}}'],
    ['is cut off between two items', `{"id":1,"result":[${items(10_000)}}`],
    ['is a second answer behind the first', '{"id":1,"result":"0x1"},{"id":2,"result":"0x2"}'],
    ['is a word', '{"id":1,"result":undefined}'],
    ['is large and broken in its beginning', `{"id":1,"result":[,${items(100_000)}]}`],
    ['is no UTF-8', Buffer.from('{"id":1,"result":"\xe9"}', 'latin1')],
    ['is a block with NaN', '{"id":1,"result":{"number":"0x1","timestamp":NaN}}'],
    ['is a block with a number that is none', '{"id":1,"result":{"number":01}}'],
    ['is a block in other quotes', `{"id":1,"result":{"number":'0x1'}}`],
    ['has an error that is no UTF-8', Buffer.from('{"id":1,"error":{"code":3,"message":"\xc3"}}', 'latin1')],
  ])('and %s, is asked of the next node', async (_, text) => {
    const [one, two] = [await node(), await node(() => 'two')];
    sends(one, text);
    const { forwarder, context } = forwarderTo([one, two]);
    expect(await getText(await call(forwarder))).toBe('"two"');
    expect(await context.metrics.render()).toContain(
      'packhouse_upstream_requests_total{network="testnet",upstream="node-1",method="m",outcome="nonsense"} 1',
    );
  });
});

describe('a streamed answer', () => {
  it.each([
    ['that is cut off', `{"id":1,"result":[${items(100_000)}`],
    ['that is cut off before the last bracket', `{"id":1,"result":[${items(100_000)}}`],
    ['that has a second answer behind it', `{"id":1,"result":[${items(100_000)}]},{"id":2,"result":"0x2"}`],
    [
      'that is no UTF-8 in the middle',
      Buffer.from(`{"id":1,"result":[${items(50_000)},"\xff",${items(90_000)}]}`, 'latin1'),
    ],
    ['that is no JSON in the middle', `{"id":1,"result":[${items(50_000)},,${items(900_000)}]}`],
  ])('%s never ends, and counts against its node', async (_, text) => {
    const one = await node();
    sends(one, text);
    const { forwarder, context } = forwarderTo([one]);
    for (let n = 0; n < 5; n++) await expect(getText(await call(forwarder))).rejects.toThrow('a node sent');
    expect(forwarder.status()[0]?.healthy).toBe(false);
    expect(await context.metrics.render()).toContain('outcome="nonsense"} 5');
  });

  it('that is no JSON is not read to its end', async () => {
    const one = await node();
    sends(one, `{"id":1,"result":[${items(50_000)},,${items(1_000_000)}]}`);
    const { forwarder } = forwarderTo([one]);
    await expect(getText(await call(forwarder))).rejects.toThrow('a node sent an answer that is not JSON');
    await one.when(() => one.sockets.size === 0);
  });

  it('whose connection breaks counts against its node', async () => {
    const one = await node();
    one.intercept = (request, response, raw) => {
      response.writeHead(200, { 'content-length': 3_000_000 });
      const begin = withId(`{"id":1,"result":[${items(100_000)}`, request);
      return response.write(begin, () => raw.socket.destroy()) || true;
    };
    const { forwarder } = forwarderTo([one]);
    for (let n = 0; n < 5; n++) await expect(getText(await call(forwarder))).rejects.toThrow();
    await until(() => forwarder.status()[0]?.healthy === false);
  });
});
