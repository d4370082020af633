import { systemClock } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { RpcError } from '../../test/scripted-node.js';
import { call, forwarders, getText, timesAsked } from '../../test/test-forwarder.js';

const { forwarderTo, node } = forwarders();

const state = (block: number) => ({ method: 'eth_call', block });

/** A preferred node that has deleted the blocks before 50, and one that has all. */
async function pool(declared: object = {}) {
  let skew = 0;
  const pruned = await node(({ params }) => {
    if ((params[0] as number) < 50) throw new RpcError(-32000, 'missing trie node abc');
    return 'pruned';
  });
  const archive = await node(() => 'archive');
  const clock = { ...systemClock, elapsed: () => performance.now() + skew };
  const { forwarder } = forwarderTo([pruned, archive], { upstreams: [declared], clock });
  const ask = async (block: number, method = 'eth_call') =>
    getText(await call(forwarder, { ...state(block), method, params: `[${block}]` }));
  return { archive, ask, forwarder, pruned, pass: (ms: number) => (skew += ms) };
}

describe('a node that said what it has deleted', () => {
  it('is not asked for it and for older blocks again, for 10 minutes', async () => {
    const { ask, pass, pruned } = await pool();
    for (const block of [49, 49, 10]) expect(await ask(block)).toBe('"archive"');
    expect(timesAsked(pruned, 'eth_call')).toBe(1);
    expect(await ask(50)).toBe('"pruned"');
    pass(600_000);
    expect(await ask(49)).toBe('"archive"');
    expect(timesAsked(pruned, 'eth_call')).toBe(3);
  });

  it('is asked for other things, and by the lowest block of a range', async () => {
    const { ask, forwarder, pruned } = await pool();
    await ask(49);
    await ask(10, 'eth_getBlockReceipts');
    expect(timesAsked(pruned, 'eth_getBlockReceipts')).toBe(1);
    const logs = { method: 'eth_getLogs', block: 90, from: 40, params: '[40]' };
    expect(await getText(await call(forwarder, logs))).toBe('"archive"');
    expect(await getText(await call(forwarder, { ...logs, from: 60, params: '[60]' }))).toBe('"pruned"');
  });

  it('is asked again where no other one is left', async () => {
    const { archive, ask, forwarder } = await pool();
    await ask(49);
    await archive.close();
    expect(await call(forwarder, { ...state(49), params: '[49]' })).toMatchObject({ kind: 'failed' });
    const alone = await node(() => {
      throw new RpcError(-32000, 'missing trie node abc');
    });
    const { forwarder: two } = forwarderTo([alone, alone]);
    for (let n = 0; n < 2; n++)
      expect(await call(two, state(49))).toMatchObject({ kind: 'error', code: -32000 });
  });

  it('is asked nevertheless if it is declared an archive', async () => {
    const { ask, pruned } = await pool({ archive: true });
    await ask(49);
    await ask(49);
    expect(timesAsked(pruned, 'eth_call')).toBe(2);
  });
});

it('asks no node for what is declared to be older than it has', async () => {
  const { ask, pruned } = await pool({ oldest: { state: 50 } });
  expect(await ask(49)).toBe('"archive"');
  expect(await ask(50)).toBe('"pruned"');
  expect(timesAsked(pruned, 'eth_call')).toBe(1);
  const nodes = [await node(), await node()];
  const oldest = { oldest: { state: 50 } };
  const { forwarder } = forwarderTo(nodes, { upstreams: [oldest, oldest] });
  expect(await call(forwarder, state(49))).toEqual({
    kind: 'failed',
    reason: 'unavailable',
    detail: 'no node is declared to have what eth_call needs of block 49',
  });
});
