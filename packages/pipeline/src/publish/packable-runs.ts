import { chooseCut, type FragmentInfo } from '@packhouse/bundle';
import { type BlockRange, type Kind, rangesInclude, subtractRanges } from '@packhouse/chain';
import type { Coverage, NetworkDatabase, RequestedRuns } from '@packhouse/database';
import type { Network } from '@packhouse/networks';

/** A run of staged, final, unpublished blocks from which bundles may be cut. */
interface PackableRun extends BlockRange {
  /** No block after it is still to come: its last bundle may be smaller than the others. */
  closed: boolean;
  /** The block before it is still to come: only a long run is packed without waiting for that. */
  waits: boolean;
}

/**
 * The runs of one kind that can be packed now.
 *
 * A run is packed from its left end at once if no block before it is still to come: that block is published,
 * quarantined or not requested. Other runs wait, so that bundles come out dense although windows are staged out of order.
 * Blocks of a paused range are still to come for the runs within it, which are packed when it is resumed; a range
 * beside it does not wait for that.
 */
export function packableRuns(
  { staged, published, quarantined }: Coverage,
  wanted: RequestedRuns,
  kind: Kind,
  finalized: number,
): PackableRun[] {
  const active = wanted.active.get(kind) ?? [];
  const paused = wanted.paused.get(kind) ?? [];
  // Asked of single blocks: what is requested and what is published may be very many ranges.
  const settled = (number: number): boolean =>
    rangesInclude(published, number) || rangesInclude(quarantined, number);
  const toCome = (number: number): boolean => rangesInclude(active, number) && !settled(number);
  const onceResumed = (number: number): boolean =>
    rangesInclude(paused, number) && !settled(number) && !rangesInclude(active, number);
  const comes = (number: number, beside: number): boolean =>
    toCome(number) || (onceResumed(number) && onceResumed(beside));
  return subtractRanges(staged, published)
    .filter(({ firstBlock }) => firstBlock <= finalized)
    .map(({ firstBlock, lastBlock }) => ({
      firstBlock,
      lastBlock: Math.min(lastBlock, finalized),
      closed: lastBlock <= finalized && !comes(lastBlock + 1, lastBlock),
      waits: comes(firstBlock - 1, firstBlock),
    }));
}

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
  if (run.waits && run.lastBlock - run.firstBlock + 1 < PATIENT_BUNDLES) return [];
  const found = await request.database.staging.fragments(kind, run);
  let rest = found.filter((fragment) => fragment.lastBlock <= run.lastBlock);
  const closed = run.closed && rest.at(-1)?.lastBlock === run.lastBlock;
  const cuts: FragmentInfo[][] = [];
  while (rest.length > 0) {
    const cut = chooseCut(rest, maxBytes, maxBlocks);
    if (!cut.full && !closed) break;
    cuts.push(rest.slice(0, cut.count));
    rest = rest.slice(cut.count);
  }
  return run.waits && cuts.length < PATIENT_BUNDLES ? [] : cuts;
}
