import { chooseCut, type FragmentInfo } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { PackableRun } from './wanted-blocks.js';

/**
 * A run that waits for blocks before it is packed when it holds this many bundles. Those blocks may never come (a range
 * of lower priority, blocks that no node has), and staging must not grow meanwhile; the price is one small bundle
 * before the run.
 */
const PATIENT_BUNDLES = 32;

/**
 * The bundles that can be cut from a run now, in order, each as its fragments.
 *
 * The last one only if it is full or the run is closed; else it waits for more blocks. A fragment that ends after the
 * newest final block waits too.
 */
export async function cutRun(request: {
  database: NetworkDatabase;
  network: Network;
  kind: Kind;
  run: PackableRun;
}): Promise<FragmentInfo[][]> {
  const { run, network, kind } = request;
  const { maxBytes, maxBlocks } = network.bundles;
  if (run.waits && run.end - run.start + 1 < PATIENT_BUNDLES) return [];
  const found = await request.database.staging.fragments(kind, run);
  let rest = found.filter((fragment) => fragment.endBlock <= run.end);
  const closed = run.closed && rest.at(-1)?.endBlock === run.end;
  const cuts: FragmentInfo[][] = [];
  while (rest.length > 0) {
    const cut = chooseCut(rest, maxBytes, maxBlocks);
    if (!cut.full && !closed) break;
    cuts.push(rest.slice(0, cut.count));
    rest = rest.slice(cut.count);
  }
  return run.waits && cuts.length < PATIENT_BUNDLES ? [] : cuts;
}
