import { toQuantity } from '@packhouse/chain';
import { getHeadRequest, type UpstreamClient } from '@packhouse/node-rpc';
import { forkUnknown, strangeHeader } from '@packhouse/pipeline';
import type { Chart } from './chart.js';
import { getHeader } from './read-values.js';

/** Blocks or epochs behind the best that an upstream may be. */
const MAX_LAG = 3;

/** Compares the upstreams of one network: their heads, and whether all are on one chain. */
export async function compareUpstreams(
  charts: readonly Chart[],
  asks: ReadonlyMap<Chart, UpstreamClient>,
): Promise<void> {
  const usable = charts.filter((chart) => chart.usable);
  // At once, so that none is behind only because it was asked first.
  await Promise.all(
    usable.map(async (chart) => {
      chart.head = (await getHead(chart, asks.get(chart) as UpstreamClient)) ?? chart.head;
    }),
  );
  const best = Math.max(...usable.map((chart) => chart.head ?? -1));
  for (const chart of usable) {
    if (chart.head === null) continue;
    const behind = best - chart.head;
    if (behind <= MAX_LAG) {
      if (chart.cells.behind.level === 'none') chart.set('behind', 'ok', String(behind));
      continue;
    }
    const unit = chart.network.family === 'core' ? 'epochs' : 'blocks';
    chart.find(
      { column: 'behind', level: 'warn', text: String(behind) },
      `It is ${behind} ${unit} behind the best upstream (${chart.head} and ${best}).`,
      'Check whether it is syncing or has lost its peers. Until then, other upstreams are preferred.',
    );
  }
  compareChains(usable);
  await compareBranches(usable, asks);
}

async function getHead({ network }: Chart, ask: UpstreamClient): Promise<number | null> {
  const question = getHeadRequest(network);
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
      { column: 'chain', level: 'fail', text: chart.chain },
      `It serves ${chart.chain}, but other upstreams serve ${most}.`,
      'Remove the upstreams of the other chain from this network.',
    );
  }
}

/** The newest block that is final for all must have the same hash everywhere. */
async function compareBranches(
  charts: readonly Chart[],
  asks: ReadonlyMap<Chart, UpstreamClient>,
): Promise<void> {
  const those = charts.filter((chart) => chart.network.family === 'evm' && chart.finalized !== null);
  if (those.length < 2) return;
  const number = Math.min(...those.map((chart) => chart.finalized as number));
  const hashes = await Promise.all(
    those.map(async (chart) => {
      const params = [toQuantity(number), false];
      return (
        getHeader(await (asks.get(chart) as UpstreamClient).call('eth_getBlockByNumber', params))?.hash ??
        null
      );
    }),
  );
  const most = mostCommon(hashes.flatMap((hash) => hash ?? []));
  for (const [at, chart] of those.entries()) {
    const hash = hashes[at] as string | null;
    if (hash === null || hash === most) continue;
    chart.usable = false;
    chart.find(
      { column: 'finalized', level: 'fail', text: 'forked' },
      `Its finalized block ${number} is ${hash.slice(0, 18)}…, but that of other upstreams is ${most?.slice(0, 18)}….`,
      'One of them is on a fork. Compare with a block explorer, and resync the wrong one.',
    );
  }
}

function mostCommon(values: readonly string[]): string | undefined {
  const count = (value: string): number => values.filter((other) => other === value).length;
  return [...values].sort((a, b) => count(b) - count(a))[0];
}

/**
 * Judges the upstreams whose block does not hash to its hash and has header fields that no table names: if two give the
 * same block, byte for byte, none of them is false, and this version does not know the fork.
 */
export async function judgeForks(
  charts: readonly Chart[],
  asks: ReadonlyMap<Chart, UpstreamClient>,
): Promise<void> {
  const strange = charts.flatMap((chart) => (chart.strange === null ? [] : [{ chart, ...chart.strange }]));
  if (strange.length < 2) return;
  const number = Math.min(...strange.map((one) => one.number));
  const headers = await Promise.all(
    strange.map(async ({ chart, error }) => {
      const ask = asks.get(chart) as UpstreamClient;
      const answer = await ask.call('eth_getBlockByNumber', [toQuantity(number), true]);
      const block = answer.kind === 'result' ? answer.value : null;
      return strangeHeader(error, { block, upstream: chart.upstream.name });
    }),
  );
  const known = headers.filter((header) => header !== null);
  if (forkUnknown(number, known) === null) return;
  const names = known.map(({ upstream }) => upstream).join(' and ');
  for (const { chart, finding } of strange) {
    const fields = chart.label.quote((known[0]?.fields ?? []).join(', '));
    chart.usable = true;
    chart.findings.splice(chart.findings.indexOf(finding), 1);
    chart.set('receipts', 'none', '-');
    chart.find(
      { column: 'receipts', level: 'fail', text: 'new fork' },
      `${names} return the same block ${number}, with header fields that are new to this version (${fields}): the fork is unknown to this version.`,
      'Update Packhouse. Until then, blocks of this fork are quarantined as one range.',
    );
  }
}
