import type { RpcVisit } from '../rpc/method.js';
import type { ToldBlock } from './filter-state.js';
import { type BlockLink, linkAt, linksOf } from './read-chain.js';

/** How the chain went on since a filter was polled. */
export interface ChainMove {
  /** Blocks that were told of and are no more, newest first. */
  undone: ToldBlock[];
  /** Blocks that still stand, ascending; the new ones hang on the last of them. */
  standing: ToldBlock[];
  /** New blocks, ascending, each the parent of the next. Never empty. */
  added: BlockLink[];
  /** First new block; those from it to the first of `added` are final. */
  from: number;
}

/** Blocks that one poll looks at one by one; what lies beyond is the next poll's. */
const MAX_LINKS = 1_024;

/**
 * Compares what a filter told of with the chain, by hashes; blocks up to `final` are not looked at where nothing was
 * undone. Null: nothing new, the node that answers is behind, or the chain moves so fast that no consistent view of it
 * was had; the next poll sees it.
 *
 * A branch is believed when it is longer than what was told of (or as long, where there is but one node) and no node is
 * known to be further: a node that is behind, or that was left on a dead branch, is no reorganisation.
 */
export async function chainMoves(
  visit: RpcVisit,
  told: readonly ToldBlock[],
  final: number,
): Promise<ChainMove | null> {
  const head = await linkAt(visit, 'latest');
  const cursor = told.at(-1) as ToldBlock;
  if (head === null || head.number < cursor.number || head.hash === cursor.hash) return null;
  // Of two branches of one length, only a network's one node knows which counts.
  if (head.number === cursor.number && visit.at.forwarder.status().length > 1) return null;
  if (head.parentHash === cursor.hash) {
    return { undone: [], standing: [...told], added: [head], from: head.number };
  }

  const standing = [...told];
  const undone: ToldBlock[] = [];
  for (let last = standing.at(-1); last !== undefined; last = standing.at(-1)) {
    const now = await linkAt(visit, last.number, head.number);
    if (now === null) return null;
    if (now.hash === last.hash) break;
    undone.push(last);
    standing.pop();
  }
  if (undone.length > 0 && head.number < (visit.at.forwarder.head() ?? 0)) return null;

  const from = (standing.at(-1)?.number ?? (told[0] as ToldBlock).number - 1) + 1;
  const first = undone.length > 0 ? from : Math.min(Math.max(from, final + 1), head.number);
  const to = Math.min(head.number, first + MAX_LINKS - 1);
  const added = await linksOf(visit, { from: first, to, head: head.number });
  if (added === null || (added.at(-1)?.number === head.number && added.at(-1)?.hash !== head.hash))
    return null;
  const hangsOn = first === from ? standing.at(-1) : undefined;
  if (hangsOn !== undefined && added[0]?.parentHash !== hangsOn.hash) return null;
  // Another node than the one that had it replaced has it still.
  const oldest = undone.at(-1);
  if (oldest !== undefined && added[0]?.hash === oldest.hash) return null;
  return { undone, standing, added, from };
}
