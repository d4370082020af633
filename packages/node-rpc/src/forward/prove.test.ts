import { describe, expect, it } from 'vitest';
import { call, forwarders, getText, timesAsked, without } from '../../test/test-forwarder.js';

const use = forwarders();
const isFalse = { isFalse: true, reason: 'the root is another' };
const unproved = { isFalse: false, reason: 'the block could not be had' };

describe('a result with a proof', () => {
  it('is asked of another node if it is false, and counts against its node until that rests', async () => {
    const [liar, honest] = [await use.node(() => '0x666'), await use.node(() => '0x1')];
    const { forwarder, context } = use.forwarderTo([liar, honest]);
    const prove = async (result: Buffer) => (result.toString() === '"0x666"' ? isFalse : null);
    for (let time = 0; time < 7; time++)
      expect(await getText(await call(forwarder, { prove }))).toBe('"0x1"');
    // Five failures in a row, and then a rest.
    expect(timesAsked(liar, 'm')).toBe(5);
    expect(await context.metrics.render()).toContain(
      'packhouse_upstream_invalid_responses_total{network="testnet",upstream="node-1",method="m"} 5',
    );
  });

  it('is refused with a reason if no node has a better one; only a false one is a node’s fault', async () => {
    const nodes = [await use.node(), await use.node()];
    const { forwarder, context } = use.forwarderTo(nodes);
    expect(await call(forwarder, { prove: async () => isFalse })).toEqual({
      kind: 'failed',
      reason: 'nonsense',
      detail: 'a node sent an answer that its block contradicts',
    });
    for (let time = 0; time < 6; time++) {
      expect(await call(forwarder, { prove: async () => unproved })).toMatchObject({
        reason: 'unavailable',
        detail: 'what a node sent could not be proved',
      });
    }
    expect(forwarder.status().map(({ healthy }) => healthy)).toEqual([true, true]);
    expect(await context.metrics.render()).toContain(
      'invalid_responses_total{network="testnet",upstream="node-2",method="m"} 1',
    );
  });

  it('is not proved if it does not even fit', async () => {
    const { forwarder } = use.forwarderTo([await use.node()]);
    let proofs = 0;
    const prove = async () => {
      proofs += 1;
      return null;
    };
    expect(await call(forwarder, { prove, ...without('0x1') })).toMatchObject({ reason: 'nonsense' });
    expect(proofs).toBe(0);
  });
});
