import { describe, expect, it } from 'vitest';
import { getBlockHash, hashOn, type SmallChain, serveChain, smallChain } from '../../test/small-chain.js';
import { testContext, testUpstream, useNodes } from '../../test/test-source.js';

describe('the head of several upstreams', () => {
  const use = useNodes();

  /** A source over nodes of these chains, named node-1, node-2, … in the order of preference. */
  async function pool(...chains: SmallChain[]) {
    const nodes = await Promise.all(chains.map((chain) => use.node(serveChain(chain))));
    const context = testContext();
    const upstreams = nodes.map((node, i) =>
      testUpstream(node.url, { name: `node-${i + 1}`, priority: i + 1 }),
    );
    return { nodes, context, source: use.source(upstreams, { context }).source };
  }

  const anchor = { number: 900, hash: getBlockHash(900) };

  it('is told by one that has what is final, however high another branch is', async () => {
    const fork = smallChain({ head: 1_050, finalized: 1_000, branch: { from: 880, name: 'dead' } });
    const { context, source } = await pool(fork, smallChain({ head: 999, finalized: 910 }));
    expect(await source.head(undefined, anchor)).toMatchObject({
      number: 999,
      finalized: 910,
      finalizedHash: getBlockHash(910),
      upstream: 'node-2',
    });
    expect(source.status().map(({ healthy }) => healthy)).toEqual([false, true]);
    expect((await source.fetchBlock(950, { receipts: false, traces: false })).upstream).toBe('node-2');
    await source.head(undefined, anchor);
    expect(
      context.lines.filter((line) => line.includes('another block in place of a final one')),
    ).toHaveLength(1);

    // It returns to the chain that all others have.
    fork.branch = null;
    expect(await source.head(undefined, anchor)).toMatchObject({ number: 1_050, upstream: 'node-1' });
    expect(source.status()[0]?.healthy).toBe(true);
  });

  it('is refused by name where nobody has what is final', async () => {
    const branch = { from: 890, name: 'other' };
    const { source } = await pool(smallChain({ branch }), smallChain({ head: 899, finalized: 800 }));
    await expect(source.head(undefined, anchor)).rejects.toMatchObject({
      code: 'REORG_BELOW_FINALITY',
      data: {
        number: 900,
        expected: getBlockHash(900),
        got: hashOn({ branch }, 900),
        upstream: 'node-1',
      },
    });
  });

  it('is the old one of a pool that is behind what is final: that is lagging', async () => {
    const { source } = await pool(smallChain({ head: 850, finalized: 800 }));
    expect(await source.head(undefined, anchor)).toMatchObject({ number: 850, finalized: 800 });
  });

  it('waits for the others where the first to answer has another block', async () => {
    const { nodes, source } = await pool(smallChain({ branch: { from: 5, name: 'dead' } }), smallChain());
    const [dead, slow] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    slow.intercept = async () => {
      await held;
      return false;
    };
    const asking = source.head(undefined, anchor);
    await dead.when(() => dead.requests.length === 2 && dead.inFlight === 0);
    letGo();
    expect((await asking).upstream).toBe('node-2');
  });

  it('asks nothing about what is final while the chain only grows', async () => {
    const chain = smallChain({ head: 990 });
    const { nodes, source } = await pool(chain);
    await source.head(undefined, anchor);
    expect(nodes[0]?.requests).toHaveLength(2);
    for (; chain.head < 999; chain.head += 1) await source.head(undefined, anchor);
    expect(nodes[0]?.requests).toHaveLength(11);
    // A jump says nothing about the blocks between.
    chain.head += 3;
    await source.head(undefined, anchor);
    expect(nodes[0]?.requests).toHaveLength(13);
  });

  it('is on the branch that most of them follow', async () => {
    const ahead = smallChain({ head: 1_003, branch: { from: 997, name: 'minority' } });
    const { source } = await pool(ahead, smallChain({ head: 999 }), smallChain({ head: 1_001 }));
    expect(await source.head()).toMatchObject({ number: 1_001, upstream: 'node-3' });
  });

  it('is not that of a lone one far ahead whose chain lacks the heads of the others', async () => {
    const far = smallChain({ head: 5_000, finalized: 80, branch: { from: 990, name: 'lone' } });
    const { source } = await pool(
      far,
      smallChain({ finalized: 80 }),
      smallChain({ head: 998, finalized: 80 }),
    );
    expect(await source.head()).toMatchObject({ number: 999, upstream: 'node-2' });
    far.branch = null;
    expect(await source.head()).toMatchObject({ number: 5_000, upstream: 'node-1' });
  });

  it('leaves out the one that has another final block, and says a tie', async () => {
    const fork = smallChain({ head: 1_001, finalized: 910, branch: { from: 905, name: 'fork' } });
    const { source } = await pool(fork, smallChain({ finalized: 910 }), smallChain({ finalized: 910 }));
    expect(await source.head()).toMatchObject({ number: 999, finalizedHash: getBlockHash(910) });
    expect(source.status().map(({ healthy }) => healthy)).toEqual([false, true, true]);
    expect((await source.fetchBlock(950, { receipts: false, traces: false })).upstream).not.toBe('node-1');
    fork.branch = null;
    await source.head();
    expect(source.status()[0]?.healthy).toBe(true);

    const { source: tied } = await pool(
      smallChain({ finalized: 910, branch: { from: 905, name: 'fork' } }),
      smallChain({ finalized: 910 }),
    );
    await expect(tied.head()).rejects.toMatchObject({ code: 'NODES_DISAGREE', data: { agreed: -1 } });
  });

  it('does not wait for one that hangs where more than half agree about what is final', async () => {
    const { nodes, source } = await pool(smallChain(), smallChain(), smallChain({ finalized: 905 }));
    const held: (() => void)[] = [];
    const slow = nodes.at(-1) as (typeof nodes)[0];
    slow.intercept = async (request) => {
      if (!JSON.stringify(request).includes('0x384')) return false;
      await new Promise<void>((resolve) => {
        held.push(resolve);
      });
      return false;
    };
    expect(await source.head()).toMatchObject({ number: 999, finalized: 905 });
    expect(held).toHaveLength(1);
    // It was asked once, and is not waited for again.
    expect(await source.head()).toMatchObject({ number: 999 });
    expect(held).toHaveLength(1);
    for (const release of held) release();
  });

  it('is that of most of them, however far ahead the other one is, until it is on their chain', async () => {
    const ahead = smallChain({ head: 1_040, branch: { from: 990, name: 'minority' } });
    const [one, two] = [smallChain({ head: 995 }), smallChain({ head: 993 })];
    const { source } = await pool(ahead, one, two);
    expect(await source.head()).toMatchObject({ number: 995, upstream: 'node-2' });
    // They stand still, and what nobody can judge is not believed.
    ahead.head = 1_050;
    expect(await source.head()).toMatchObject({ number: 995, upstream: 'node-2' });
    ahead.branch = null;
    expect(await source.head()).toMatchObject({ number: 1_050, upstream: 'node-1' });
  });

  it('does not change between branches of the same height', async () => {
    const one = smallChain({ head: 990, branch: { from: 980, name: 'one' } });
    const two = smallChain({ head: 989, branch: { from: 980, name: 'two' } });
    const { source } = await pool(two, one);
    expect((await source.head()).upstream).toBe('node-2');
    two.head = 990;
    expect((await source.head()).upstream).toBe('node-2');
    one.head = 991;
    two.head = 991;
    expect((await source.head()).upstream).toBe('node-2');
  });

  it('is not asked for again of one that hangs', async () => {
    const { nodes, source } = await pool(smallChain(), smallChain());
    const hanging = nodes[0] as (typeof nodes)[0];
    hanging.intercept = () => true;
    for (let looks = 0; looks < 5; looks += 1) expect((await source.head()).upstream).toBe('node-2');
    expect(hanging.requests).toHaveLength(1);
  });
});

describe('headers', () => {
  const use = useNodes();

  it('come all from one upstream, the one that was asked for if it can be', async () => {
    const one = await use.node(serveChain(smallChain()));
    const two = await use.node(serveChain(smallChain({ head: 1_100, branch: { from: 990, name: 'two' } })));
    const { source } = use.source([
      testUpstream(one.url, { name: 'one' }),
      testUpstream(two.url, { name: 'two', priority: 2 }),
    ]);
    const numbers = Array.from({ length: 64 }, (_, i) => 930 + i);
    const headers = await source.headers(numbers, { from: 'two' });
    expect(headers.map((header) => header?.number)).toEqual(numbers);
    expect(headers.at(-1)?.hash).toBe(hashOn({ branch: { from: 990, name: 'two' } }, 993));
    expect(one.requests).toHaveLength(0);
    expect(two.requests.length).toBeLessThanOrEqual(4);
    expect(await source.headers([2_000], { from: 'one' })).toEqual([null]);
    expect((await source.headers([993], { from: 'gone' }))[0]?.hash).toBe(getBlockHash(993));
    await two.close();
    expect((await source.headers([993], { from: 'two' }))[0]?.hash).toBe(getBlockHash(993));
  });
});
