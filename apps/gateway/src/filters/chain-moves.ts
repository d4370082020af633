import type { RpcVisit } from '../rpc/method.js';
import type { ToldBlock } from './filter-state.js';
import { type BlockLink, linkAt, linksOf } from './read-chain.js';

/** How the chain went on since a filter was polled. */
export interface ChainMove {
  /** Blocks that were told of and are no more, newest first. */
  undone: ToldBlock[];
  /** Blocks that still stand, ascending; the new ones hang on the last of them. */
  standing: ToldBlock[];
  /** New blocks whose hashes are known, ascending, up to the head; of a long way only the end. */
  added: BlockLink[];
  /** First new block; before `added` where the way was long. */
  from: number;
}

/** More blocks than this are not looked at one by one. */
const MAX_LINKS = 64;

/**
 * Compares what a filter told of with the chain, by hashes. Null: nothing new, the node that answers is behind, or the
 * chain moves so fast that no consistent view of it was had; the next poll sees it.
 */
export async function chainMoves(
  visit: RpcVisit,
  told: readonly ToldBlock[],
  maxLinks = MAX_LINKS,
): Promise<ChainMove | null> {
  const head = await linkAt(visit, 'latest');
  const cursor = told.at(-1) as ToldBlock;
  // A node that is behind knows nothing of what was undone.
  if (head === null || head.number < cursor.number || head.hash === cursor.hash) return null;

  const standing = [...told];
  const undone: ToldBlock[] = [];
  const direct = head.number === cursor.number + 1 && head.parentHash === cursor.hash;
  if (!direct) {
    for (let last = standing.at(-1); last !== undefined; last = standing.at(-1)) {
      const now = last.number === head.number ? head : await linkAt(visit, last.number);
      if (now === null) return null;
      if (now.hash === last.hash) break;
      undone.push(last);
      standing.pop();
    }
  }
  const fork = standing.at(-1)?.number ?? (told[0] as ToldBlock).number - 1;
  const from = fork + 1;
  const first = Math.max(from, head.number - maxLinks + 1);
  const added = direct ? [head] : await linksOf(visit, first, head.number);
  if (added === null || added.at(-1)?.hash !== head.hash) return null;
  const hangs = standing.at(-1);
  if (first === from && hangs !== undefined && added[0]?.parentHash !== hangs.hash) return null;
  return { undone, standing, added, from };
}

/** Blocks that are remembered; what is final cannot be undone. */
const REMEMBERED = 128;
/** Characters of logs that are remembered of one filter. */
const REMEMBERED_TEXT = 262_144;

/** What is worth remembering: the cursor, and what may still be undone. */
export function remembered(told: readonly ToldBlock[], finalized: number | null): ToldBlock[] {
  const recent = told.slice(-REMEMBERED).filter((block, at, all) => {
    return at === all.length - 1 || finalized === null || block.number > finalized;
  });
  let room = REMEMBERED_TEXT;
  const kept: ToldBlock[] = [];
  for (const block of recent.reverse()) {
    room -= (block.logs ?? []).reduce((sum, log) => sum + log.length, 0);
    kept.unshift(room >= 0 ? block : { number: block.number, hash: block.hash });
  }
  return kept;
}
