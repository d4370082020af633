import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RpcError } from '../../test/scripted-node.js';
import { serveChain, smallChain } from '../../test/small-chain.js';
import { call, forwarders, timesAsked, until } from '../../test/test-forwarder.js';
import { testContext, testUpstream, useNodes } from '../../test/test-source.js';
import { createNodeReports, type NodeReports } from './node-reports.js';

type Added = Parameters<NodeReports['add']>[0];

/** Keeps the upstreams that are added, by name. */
function collect(): { reports: NodeReports; added: Map<string, Added> } {
  const added = new Map<string, Added>();
  return {
    added,
    reports: {
      add(upstream) {
        added.set(upstream.upstream, upstream);
        return () => added.delete(upstream.upstream);
      },
    },
  };
}

describe('a source of blocks', () => {
  const use = useNodes();

  it('asks no cordoned upstream, and one that is back for its chain first', async () => {
    const first = await use.node(serveChain(smallChain()));
    const second = await use.node(serveChain(smallChain()));
    const { reports, added } = collect();
    const { source } = use.source(
      [testUpstream(first.url, { name: 'first' }), testUpstream(second.url, { name: 'second', priority: 2 })],
      { reports },
    );
    added.get('first')?.cordon(true);
    await source.probe({ receipts: false, traces: false }).catch(() => undefined);
    await source.head();
    await source.blockHash(900);
    expect(first.requests).toEqual([]);
    expect(added.get('first')?.report()).toMatchObject({ state: 'cordoned', head: null });

    added.get('second')?.cordon(true);
    await expect(source.blockHash(900)).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringMatching(/ is cordoned by an operator\.$/),
    });

    added.get('first')?.cordon(false);
    await source.blockHash(900);
    expect(first.requests[0]?.calls).toMatchObject([{ method: 'eth_chainId' }]);
    await source.close();
    expect(added.size).toBe(0);
  });

  it('reports heads, calls by method, errors by meaning and invalid responses, without credentials', async () => {
    const node = await use.node((asked) => {
      if (asked.params[0] === 'finalized') throw new RpcError(-32602, 'unknown tag');
      return serveChain(smallChain())(asked);
    });
    const { reports, added } = collect();
    const url = `${node.url}/v3/0123456789abcdef`;
    const { source } = use.source([testUpstream(url, { provider: 'cheap' })], { reports });
    await source.head();
    source.reportInvalidResponse('main');
    const { provider, report } = added.get('main') as Added;
    const told = report();
    expect({ provider, ...told }).toMatchObject({
      provider: 'cheap',
      state: 'distrusted',
      head: 999,
      invalidResponses: 1,
      inFlight: 0,
      leftOut: null,
      throttledBy: null,
      methods: [{ method: 'eth_getBlockByNumber', ms: expect.any(Number) }],
      errors: [{ calls: 1 }],
      missingCapabilities: ['the finalized tag'],
    });
    expect(JSON.stringify(told)).not.toContain('0123456789abcdef');
  });
});

describe('a forwarder', () => {
  const { forwarderTo, node } = forwarders();

  it('asks no cordoned node, not even for its head, and reports what it asked', async () => {
    const chain = (asked: { method: string }) => (asked.method === 'eth_chainId' ? '0x1' : { number: '0x9' });
    const [one, two] = [await node(chain), await node(chain)];
    const { reports, added } = collect();
    const cordoning: NodeReports = {
      add(upstream) {
        const leave = reports.add(upstream);
        if (upstream.upstream === 'node-1') upstream.cordon(true);
        return leave;
      },
    };
    const { forwarder } = forwarderTo([one, two], {
      network: { family: 'evm', chainId: 1 },
      reports: cordoning,
    });
    await until(() => forwarder.head() === 9);
    expect(await call(forwarder)).toMatchObject({ kind: 'result', upstream: 'node-2' });
    expect(one.requests).toEqual([]);
    expect(added.get('node-1')?.report()).toMatchObject({ state: 'cordoned', methods: [] });
    const { methods, state } = (added.get('node-2') as Added).report();
    expect(state).toBe('ok');
    expect(methods).toContainEqual({ method: 'm', calls: 1, ms: expect.any(Number) });

    added.get('node-2')?.cordon(true);
    expect(await call(forwarder, { timeoutMs: 200 })).toMatchObject({
      kind: 'failed',
      reason: 'unavailable',
    });
    added.get('node-1')?.cordon(false);
    await until(() => timesAsked(one, 'eth_chainId') > 0);
    expect(await call(forwarder)).toMatchObject({ kind: 'result', upstream: 'node-1' });
  });
});

it('reports every fifth second, and tells within one which upstreams are cordoned', async () => {
  let wake = (): void => undefined;
  const context = testContext();
  Object.assign(context.clock, {
    sleep: (_: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  });
  const tick = async (): Promise<void> => {
    const before = wake;
    wake();
    await vi.waitUntil(() => wake !== before);
  };
  let cordons = [{ network: 'main', upstream: 'a' }];
  const table = {
    report: vi.fn().mockResolvedValue(undefined),
    leave: vi.fn().mockResolvedValue(undefined),
    cordons: async () => cordons,
  };
  const reports = await createNodeReports({ context, role: 'gateway', table });
  onTestFinished(() => reports.close());
  const report = { state: 'ok' } as ReturnType<Added['report']>;
  const of = (upstream: string) => ({ network: 'main', upstream, provider: 'p', report: () => report });
  const [a, b] = [vi.fn(), vi.fn()];
  reports.add({ ...of('a'), cordon: a });
  const leave = reports.add({ ...of('b'), cordon: b });
  expect([a.mock.calls, b.mock.calls]).toEqual([[[true]], []]);
  cordons = [{ network: 'main', upstream: 'b' }];
  await tick();
  expect([a.mock.calls, b.mock.calls]).toEqual([[[true], [false]], [[true]]]);
  leave();
  // Of a changed networks file that is being taken up: the newer one is told.
  reports.add({ ...of('a'), provider: 'q', cordon: a });
  for (let n = 0; n < 5; n++) await tick();
  expect(table.report.mock.calls).toMatchObject([
    [{ role: 'gateway' }, [{ upstream: 'a' }, { upstream: 'b' }]],
    [{ role: 'gateway' }, [{ network: 'main', upstream: 'a', provider: 'q', report: { state: 'ok' } }]],
  ]);
  const forMs = (): number => table.report.mock.lastCall?.[1][0].report.stateForMs;
  let elapsed = 1_000;
  Object.assign(context.clock, { elapsed: () => elapsed });
  const pass = async (ms: number): Promise<number> => {
    elapsed += ms;
    for (let n = 0; n < 5; n++) await tick();
    return forMs();
  };
  await pass(0);
  Object.assign(report, { state: 'resting' });
  expect(await pass(5_000)).toBe(0);
  expect(await pass(5_000)).toBe(5_000);
  expect(await pass(5_000)).toBe(10_000);
  Object.assign(report, { state: 'ok' });
  expect(await pass(5_000)).toBe(0);
  await reports.close();
  expect(table.leave).toHaveBeenCalledOnce();
});
