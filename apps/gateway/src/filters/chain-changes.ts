import { toQuantity } from '@packhouse/chain';
import pLimit from 'p-limit';
import { Problem } from '../http/problem.js';
import { type BlockLink, linkAt } from '../rpc/ask-node.js';
import type { CallContext } from '../rpc/method.js';
import type { ReportedBlock } from './filter-state.js';

/** The changes of the chain since a filter was polled. */
export interface ChainChange {
  /** Reported blocks that were removed since, newest first. */
  removed: ReportedBlock[];
  /** Blocks that are still there, ascending, never empty; the last is the parent of the first new one. */
  kept: ReportedBlock[];
  /** New blocks, ascending, each the parent of the next. Never empty. */
  added: BlockLink[];
  /** Number of the first new block; blocks from it to the first of `added` are final. */
  from: number;
}

/** Most blocks that one poll checks one by one; the next poll checks the rest. */
const MAX_LINKS = 1_024;
/** Concurrent questions of one poll. */
export const CONCURRENCY = 8;

/**
 * Compares the reported blocks of a filter with the chain, by hashes; blocks up to `final` are not checked if none was
 * removed. Null if nothing is new, the answering upstream is behind, or the chain changed during the check; the next
 * poll sees it.
 *
 * A branch is accepted if it is longer than the reported one (or as long, if there is only one upstream) and no
 * upstream is known to be further. So an upstream that is behind, or on a dead branch, causes no reorganisation. Throws
 * the problem `filter-lost` if a branch is accepted that begins before the oldest reported block.
 */
export async function findChainChange(
  caller: CallContext,
  reported: readonly ReportedBlock[],
  final: number,
): Promise<ChainChange | null> {
  const head = await linkAt(caller, 'latest');
  const cursor = reported.at(-1) as ReportedBlock;
  if (head === null || head.number < cursor.number || head.hash === cursor.hash) return null;
  // Which of two equally long branches counts is only certain if there is a single upstream.
  if (head.number === cursor.number && caller.network.forwarder.status().length > 1) return null;
  if (head.parentHash === cursor.hash) {
    return { removed: [], kept: [...reported], added: [head], from: head.number };
  }

  const kept = [...reported];
  const removed: ReportedBlock[] = [];
  for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
    const now = await linkAt(caller, last.number, head.number);
    if (now === null) return null;
    if (now.hash === last.hash) break;
    removed.push(last);
    kept.pop();
  }
  if (removed.length > 0 && head.number < (caller.network.forwarder.head() ?? 0)) return null;

  const from = removed.at(-1)?.number ?? cursor.number + 1;
  const first = removed.length > 0 ? from : Math.min(Math.max(from, final + 1), head.number);
  const to = Math.min(head.number, first + MAX_LINKS - 1);
  const added = await getLinks(caller, { from: first, to, head: head.number });
  if (added === null || (added.at(-1)?.number === head.number && added.at(-1)?.hash !== head.hash))
    return null;
  const parent = first === from ? kept.at(-1) : undefined;
  if (parent !== undefined && added[0]?.parentHash !== parent.hash) return null;
  // This upstream has not replaced the block yet.
  const oldest = removed.at(-1);
  if (oldest !== undefined && added[0]?.hash === oldest.hash) return null;
  if (kept.length === 0) {
    const why = `and it began before block ${from}, the oldest that this filter remembers`;
    throw filterLost(caller, removed, why);
  }
  return { removed, kept, added, from };
}

/** Links of `from` to `to`, ascending; null if one is missing or not linked, because the chain is changing. */
async function getLinks(
  caller: CallContext,
  { from, to, head }: { from: number; to: number; head: number },
): Promise<BlockLink[] | null> {
  const turn = pLimit(CONCURRENCY);
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);
  const links = await Promise.all(numbers.map((number) => turn(() => linkAt(caller, number, head))));
  const linked = links.every(
    (link, i) => link !== null && (i === 0 || link.parentHash === links[i - 1]?.hash),
  );
  return linked ? (links as BlockLink[]) : null;
}

/**
 * The refusal of a poll that cannot tell all that a reorganisation changed. `removed`: the removed blocks that the filter
 * remembers, newest first; `why` goes on after them. The filter is unchanged: it can be polled again if its branch
 * comes back, and expires otherwise.
 */
export function filterLost(caller: CallContext, removed: readonly ReportedBlock[], why: string): Problem {
  const [newest, oldest] = [removed[0] as ReportedBlock, removed.at(-1) as ReportedBlock];
  const final = caller.network.forwarder.finalized();
  // A final block that was removed was not final.
  const readFrom = final === null || final >= oldest.number ? null : final + 1;
  const place =
    readFrom === null
      ? `a block before ${oldest.number} that you know to be unchanged`
      : `block ${readFrom}, the first that is not final`;
  return new Problem('filter-lost', {
    detail: `A reorganisation removed blocks ${oldest.number} to ${newest.number}, ${why}; create a new filter and read again from ${place}, with eth_getLogs.`,
    members: {
      removed: { fromBlock: toQuantity(oldest.number), toBlock: toQuantity(newest.number) },
      readFrom: readFrom === null ? undefined : toQuantity(readFrom),
    },
  });
}
