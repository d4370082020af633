import { headQuestion, type UpstreamClient } from '@packhouse/node-rpc';
import type { Chart } from './chart.js';
import { headerOf } from './read-values.js';

/** Blocks or epochs behind the best at which an upstream is asked after the others. */
const LAG = 3;

/** Compares the upstreams of one network: their heads, and whether all are on one chain. */
export async function compareUpstreams(
  charts: readonly Chart[],
  asks: ReadonlyMap<Chart, UpstreamClient>,
): Promise<void> {
  const usable = charts.filter((chart) => chart.usable);
  // At once, so that none is behind only because it was asked first.
  await Promise.all(
    usable.map(async (chart) => {
      chart.head = (await headOf(chart, asks.get(chart) as UpstreamClient)) ?? chart.head;
    }),
  );
  const best = Math.max(...usable.map((chart) => chart.head ?? -1));
  for (const chart of usable) {
    if (chart.head === null) continue;
    const behind = best - chart.head;
    if (behind <= LAG) {
      if (chart.cells.behind.level === 'none') chart.set('behind', 'ok', String(behind));
      continue;
    }
    const unit = chart.network.family === 'core' ? 'epochs' : 'blocks';
    chart.find(
      ...(['behind', 'warn', String(behind)] as const),
      `It is ${behind} ${unit} behind the best upstream (${chart.head} and ${best}).`,
      'See whether it is synchronising or cut off from its peers; until then others are asked first.',
    );
  }
  compareChains(usable);
  await compareBranches(usable, asks);
}

async function headOf({ network }: Chart, ask: UpstreamClient): Promise<number | null> {
  const question = headQuestion(network);
  if (question === null) return null;
  const answer = await ask.call(question.method, question.params);
  return answer.kind === 'result' ? question.read(answer.value) : null;
}

/** If the networks file does not name the chain, the upstreams must at least agree on it. */
function compareChains(charts: readonly Chart[]): void {
  const most = mostCommon(charts.flatMap(({ chain }) => chain ?? []));
  for (const chart of charts) {
    if (chart.chain === null || chart.chain === most) continue;
    chart.usable = false;
    chart.find(
      ...(['chain', 'fail', chart.chain] as const),
      `It serves ${chart.chain}, and other upstreams serve ${most}.`,
      'Take those of the other chain out of this network.',
    );
  }
}

/** The newest block that is final for all must have the same hash everywhere. */
async function compareBranches(
  charts: readonly Chart[],
  asks: ReadonlyMap<Chart, UpstreamClient>,
): Promise<void> {
  const those = charts.filter((chart) => chart.network.family === 'evm' && chart.final !== null);
  if (those.length < 2) return;
  const number = Math.min(...those.map((chart) => chart.final as number));
  const hashes = await Promise.all(
    those.map(async (chart) => {
      const params = [`0x${number.toString(16)}`, false];
      return (
        headerOf(await (asks.get(chart) as UpstreamClient).call('eth_getBlockByNumber', params))?.hash ?? null
      );
    }),
  );
  const most = mostCommon(hashes.flatMap((hash) => hash ?? []));
  for (const [at, chart] of those.entries()) {
    const hash = hashes[at] as string | null;
    if (hash === null || hash === most) continue;
    chart.usable = false;
    chart.find(
      ...(['final', 'fail', 'other branch'] as const),
      `Its final block ${number} is ${hash.slice(0, 18)}…, and that of other upstreams is ${most?.slice(0, 18)}….`,
      'One of them is on a dead branch: compare with a block explorer, and resynchronise the one that is wrong.',
    );
  }
}

function mostCommon(values: readonly string[]): string | undefined {
  const count = (value: string): number => values.filter((other) => other === value).length;
  return [...values].sort((a, b) => count(b) - count(a))[0];
}
