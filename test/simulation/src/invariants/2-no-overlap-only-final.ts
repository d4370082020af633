import type { Sighting } from '../watch/watcher.js';
import { ALL_ROWS, type Evidence } from './evidence.js';
import { createFindings, type Verdict } from './verdict.js';

/**
 * Invariant 2: bundles of one kind never overlap, and hold final blocks only; each was final already when the bundle
 * was first seen.
 */
export async function noOverlapOnlyFinal(
  { database, network, kinds, chain }: Evidence,
  sightings: readonly Sighting[],
): Promise<Verdict> {
  const findings = createFindings(2, 'no overlap, final blocks only');
  for (const kind of kinds) {
    let before = -1;
    for (const { firstBlock, lastBlock, objectKey } of await database
      .network(network)
      .bundles.list(kind, 0, ALL_ROWS)) {
      findings.looked();
      if (firstBlock <= before)
        findings.violated(`${objectKey} overlaps the bundle before it, which ends at ${before}`);
      if (lastBlock > chain.finalized())
        findings.violated(`${objectKey} goes beyond block ${chain.finalized()}`);
      before = lastBlock;
    }
  }
  for (const { row, finalized } of sightings) {
    findings.looked();
    if (row.lastBlock > finalized)
      findings.violated(`${row.objectKey} was published when block ${finalized} was the newest final one`);
  }
  return findings.verdict();
}
