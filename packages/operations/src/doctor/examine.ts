import type { Network } from '@packhouse/networks';
import { createUpstreamClient, type UpstreamClient } from '@packhouse/node-rpc';
import { type Context, openScope } from '@packhouse/runtime';
import { type Chart, createChart } from './chart.js';
import { checkEvm } from './check-evm.js';
import { checkCell, checkCore, checkRegistry } from './check-others.js';
import { checkProof } from './check-proof.js';
import { compareUpstreams, judgeForks } from './compare-upstreams.js';

const CHECKS = { evm: checkEvm, core: checkCore, cell: checkCell, registry: checkRegistry } as const;

interface ExamineOptions {
  context: Context;
  /** Timeout of one request, in milliseconds. */
  timeoutMs: number;
  /** Time for all checks of one network, in milliseconds; unfinished ones are reported as such. */
  limitMs: number;
}

/** Examines every upstream of a network, all at once. Rejects only when the context's signal is aborted. */
export async function examine(network: Network, options: ExamineOptions): Promise<Chart[]> {
  const { context, limitMs, timeoutMs } = options;
  const late = AbortSignal.timeout(limitMs);
  const scope = openScope(context.signal, late);
  const { signal } = scope;
  const charts = network.upstreams.map((upstream) => createChart(network, upstream));
  const asks = new Map<Chart, UpstreamClient>(
    charts.map((chart) => [
      chart,
      createUpstreamClient({
        upstream: chart.upstream,
        clock: context.clock,
        timeoutMs,
        signal,
      }),
    ]),
  );
  const bounded = async (mine: readonly Chart[], work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      if (!late.aborted) throw error;
      for (const chart of mine) tooSlow(chart, limitMs);
    }
  };
  try {
    await Promise.all(
      charts.map((chart) =>
        bounded([chart], async () => {
          const ask = asks.get(chart) as UpstreamClient;
          await CHECKS[network.family](chart, ask);
          if (network.family === 'evm') await checkProof(chart, ask, { context, timeoutMs, signal });
        }),
      ),
    );
    if (!late.aborted) {
      await bounded(charts, async () => {
        await judgeForks(charts, asks);
        await compareUpstreams(charts, asks);
      });
    }
  } finally {
    await Promise.all([...asks.values()].map((ask) => ask.close()));
    scope.close();
  }
  return charts;
}

function tooSlow(chart: Chart, limitMs: number): void {
  if (chart.cells.reach.level === 'none') chart.usable = false;
  chart.find(
    { column: 'reach', level: chart.usable ? 'warn' : 'fail', text: 'too slow' },
    `The checks did not finish within ${Math.round(limitMs / 1_000)} s.`,
    'Check it alone with --network, and check its limits.',
  );
}
