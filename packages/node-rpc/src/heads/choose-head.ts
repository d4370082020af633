import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext } from '../calls/call.js';
import { FAR_AHEAD_BLOCKS } from './final-votes.js';
import { fetchHeaders, type NodeHead } from './poll-head.js';

/** The head of one upstream. */
export interface FoundHead {
  node: BatchUpstream;
  head: NodeHead;
}

/**
 * The head that counts among those of upstreams that agree about finality, and of which none is on a branch of the
 * minority; null if there is none.
 *
 * The highest head wins; at the same height the one that `last` leads to, then the one that most have, then the first
 * by priority. One that is far above all others does not win unless its chain contains theirs.
 */
export async function chooseHead(
  found: readonly FoundHead[],
  last: string | null,
  context: CallContext,
): Promise<FoundHead | null> {
  const ranked = rank(found, last);
  const [lone] = ranked;
  const next = ranked.find((one) => one !== lone && !one.node.standsStill);
  if (lone !== undefined && next !== undefined && lone.head.number > next.head.number + FAR_AHEAD_BLOCKS) {
    const headers = await fetchHeaders(lone.node, [next.head.number], context);
    if ('action' in headers || headers[0]?.hash !== next.head.hash) {
      return chooseHead(
        found.filter((one) => one !== lone),
        last,
        context,
      );
    }
  }
  return lone ?? null;
}

function rank(found: readonly FoundHead[], last: string | null): FoundHead[] {
  const same = (hash: string): number => found.filter((one) => one.head.hash === hash).length;
  const follows = ({ hash, parentHash }: NodeHead): boolean => hash === last || parentHash === last;
  return [...found].sort(
    (a, b) =>
      b.head.number - a.head.number ||
      Number(follows(b.head)) - Number(follows(a.head)) ||
      same(b.head.hash) - same(a.head.hash) ||
      a.node.priority - b.node.priority,
  );
}
