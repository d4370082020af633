import pLimit from 'p-limit';
import { type BlockLink, linkAt } from '../rpc/ask-node.js';
import type { RpcVisit } from '../rpc/method.js';
import type { ToldBlock } from './filter-state.js';

/** How the chain changed since a filter was polled. */
export interface ChainMove {
  /** Blocks that were reported and removed since, newest first. */
  undone: ToldBlock[];
  /** Blocks that are still there, ascending; the last is the parent of the first new one. */
  standing: ToldBlock[];
  /** New blocks, ascending, each the parent of the next. Never empty. */
  added: BlockLink[];
  /** First new block; those from it to the first of `added` are final. */
  from: number;
}

/** Blocks that one poll looks at one by one; the next poll looks at the rest. */
const MAX_LINKS = 1_024;
/** Questions of one poll that are under way at a time. */
export const CONCURRENCY = 8;

/**
 * Compares the blocks that a filter reported with the chain, by hashes; blocks up to `final` are not looked at if none
 * was removed. Null: nothing new, the node that answers is behind, or the chain moved while it was looked at; the next
 * poll sees it.
 *
 * A branch is believed if it is longer than what was reported (or as long, if there is only one node) and no node is
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
  const parent = first === from ? standing.at(-1) : undefined;
  if (parent !== undefined && added[0]?.parentHash !== parent.hash) return null;
  // A node that has not replaced the block yet.
  const oldest = undone.at(-1);
  if (oldest !== undefined && added[0]?.hash === oldest.hash) return null;
  return { undone, standing, added, from };
}

/** Links of `from` to `to`, ascending; null if they are not there or not linked: the chain moves. */
async function linksOf(
  visit: RpcVisit,
  { from, to, head }: { from: number; to: number; head: number },
): Promise<BlockLink[] | null> {
  const turn = pLimit(CONCURRENCY);
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);
  const links = await Promise.all(numbers.map((number) => turn(() => linkAt(visit, number, head))));
  const linked = links.every(
    (link, i) => link !== null && (i === 0 || link.parentHash === links[i - 1]?.hash),
  );
  return linked ? (links as BlockLink[]) : null;
}
