import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext } from '../calls/call.js';
import { FAR_AHEAD_BLOCKS } from './final-votes.js';
import { fetchHeaders, type NodeHead } from './poll-head.js';

/** The head of one upstream. */
export interface FoundHead {
  node: BatchUpstream;
  head: NodeHead;
}

/** An upstream further behind the highest than this has no vote: it may have stopped on an abandoned branch. */
const VOTE_BLOCKS = 8;

/**
 * The head that counts among those of upstreams that agree about finality; null if there is none.
 *
 * The highest head wins; at the same height the one that `last` leads to, then the one that most have, then the first
 * by priority. One that is far above all others does not win unless its chain contains theirs. If three or more upstreams answer, a branch loses to another one with more followers: the followers of
 * a head are the upstreams whose own head is on its chain.
 */
export async function chooseHead(
  found: readonly FoundHead[],
  last: string | null,
  context: CallContext,
): Promise<FoundHead | null> {
  let ranked = rank(found, last);
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
  const [highest] = ranked;
  if (highest === undefined || found.length < 3) return highest ?? null;
  const voters = ranked.filter(({ head }) => highest.head.number - head.number <= VOTE_BLOCKS);
  let best: { head: FoundHead; votes: number } | null = null;
  let left = voters.length;
  while (ranked.length > 0 && (best === null || left > best.votes)) {
    const candidate = ranked[0] as FoundHead;
    const followers = await getFollowers(candidate, voters, context);
    if (best === null || followers.size > best.votes) best = { head: candidate, votes: followers.size };
    // Heads on this candidate's chain cannot win over it.
    ranked = ranked.filter((one) => one !== candidate && !followers.has(one) && voters.includes(one));
    left = ranked.length;
  }
  return best?.head ?? highest;
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

/** The upstreams whose head is on the candidate's chain, itself included; an unknown one does not count. */
async function getFollowers(
  candidate: FoundHead,
  voters: readonly FoundHead[],
  context: CallContext,
): Promise<Set<FoundHead>> {
  const { hash, number, parentHash } = candidate.head;
  const followers = new Set<FoundHead>([candidate]);
  const open: FoundHead[] = [];
  for (const voter of voters) {
    if (voter === candidate || voter.head.number > number) continue;
    const known = voter.head.number === number ? hash : voter.head.number === number - 1 ? parentHash : null;
    if (known === null) open.push(voter);
    else if (known === voter.head.hash) followers.add(voter);
  }
  if (open.length === 0) return followers;
  const headers = await fetchHeaders(
    candidate.node,
    open.map((voter) => voter.head.number),
    context,
  );
  if ('action' in headers) return followers;
  for (const [index, voter] of open.entries()) {
    if (headers[index]?.hash === voter.head.hash) followers.add(voter);
  }
  return followers;
}
