import { beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedNode, withId } from '../../test/scripted-node.js';
import { call, changeTimers, expectNotAsked, forwarders, getText, until } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();
// No node is asked beside one that a busy machine makes late.
beforeEach(() => changeTimers({ 100: 60_000 }));

const VALUE = JSON.stringify(Array.from({ length: 300_000 }, (_, n) => ({ number: n })));
const whole = (value = VALUE): string => `{"jsonrpc":"2.0","id":1,"result":${value}}`;

/** The node sends this much of an answer; then it closes the connection, or ends well as if that were all. */
function cuts(one: ScriptedNode, bytes: number, how: 'closes' | 'ends', text = whole()): void {
  one.intercept = (request, response, raw) => {
    const sent = withId(text, request);
    if (how === 'ends') return Boolean(response.end(sent.subarray(0, bytes)));
    response.writeHead(200, { 'content-length': sent.length });
    return response.write(sent.subarray(0, bytes), () => raw.socket.end()) || true;
  };
}
function sends(one: ScriptedNode, text: string): void {
  one.intercept = (request, response) => Boolean(response.end(withId(text, request)));
}

const CUTS = [100_000, 300_000, 2_000_000] as const;
const cases = CUTS.flatMap((bytes) => [[bytes, 'closes'] as const, [bytes, 'ends'] as const]);

describe.each(cases)('an answer of which a node sends %i bytes, and %s', (bytes, how) => {
  it('is handed on whole, with the rest of another node', async () => {
    const [one, two] = [await node(), await node()];
    cuts(one, bytes, how);
    sends(two, whole());
    const { forwarder, context } = forwarderTo([one, two]);
    expect((await getText(await call(forwarder))) === VALUE).toBe(true);
    expect(two.requests).toHaveLength(1);
    expect(await context.metrics.render()).toMatch(
      /upstream="node-1",method="m",outcome="(nonsense|unavailable)"} 1/,
    );
    await until(() => forwarder.status().every(({ inFlight }) => inFlight === 0));
  });

  it('is handed on whole where the second breaks off too, and the third does not', async () => {
    const nodes = [await node(), await node(), await node()];
    cuts(nodes[0] as ScriptedNode, bytes, how);
    cuts(nodes[1] as ScriptedNode, 4_000_000, 'closes');
    sends(nodes[2] as ScriptedNode, whole());
    expect((await getText(await call(forwarderTo(nodes).forwarder))) === VALUE).toBe(true);
    // A node that is late is asked again, which a busy machine makes of any.
    expect(nodes.every(({ requests }) => requests.length > 0)).toBe(true);
  });
});

describe.each([300_000, 2_000_000])('an answer of which a node sent %i bytes', (bytes) => {
  it.each<[string, string]>([
    ['has other bytes in the beginning', VALUE.replace('"number":1}', '"number":2}')],
    ['has other bytes just before the cut', `${VALUE.slice(0, 200_000)}x${VALUE.slice(200_001)}`],
    ['writes the same in another way', VALUE.replaceAll('":', '": ')],
    ['has less of it', VALUE.slice(0, 200_010).replace(/,[^,]*$/, ']')],
    ['has nothing', 'null'],
  ])('never ends where the other node %s', async (_, other) => {
    const [one, two] = [await node(), await node()];
    cuts(one, bytes, 'closes');
    sends(two, whole(other));
    await expect(getText(await call(forwarderTo([one, two]).forwarder))).rejects.toThrow();
    expect(two.requests).toHaveLength(1);
    await two.when(() => two.inFlight === 0);
  });

  it('never ends where what the call does must not happen twice', async () => {
    const [one, two] = [await node(), await node()];
    cuts(one, bytes, 'closes');
    sends(two, whole());
    const { forwarder } = forwarderTo([one, two]);
    await expect(getText(await call(forwarder, { idempotent: false }))).rejects.toThrow();
    expect(two.requests).toEqual([]);
  });

  it('is asked of nobody else when its reader leaves', async () => {
    const [one, two] = [await node(), await node()];
    cuts(one, bytes, 'closes');
    sends(two, whole());
    const { forwarder, context } = forwarderTo([one, two]);
    const answer = await call(forwarder);
    if (answer.kind !== 'result') throw new Error(answer.kind);
    await answer.body.rest?.[Symbol.asyncIterator]().return?.();
    await one.when(() => one.inFlight === 0);
    await expectNotAsked(two, context);
  });
});
