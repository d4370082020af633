import type { UpstreamClient } from '@packhouse/node-rpc';
import { forkUnknown, strangeHeader } from '@packhouse/pipeline';
import type { Chart } from './chart.js';

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
      const answer = await ask.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]);
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
      ...(['receipts', 'fail', 'new fork'] as const),
      `${names} agree byte for byte about block ${number}, whose header has fields that are new to this version (${fields}): they do not lie, this version does not know the fork.`,
      'Update Packhouse; until then blocks of this fork are quarantined as one range.',
    );
  }
}
