import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { Use } from '../spending/budget-rule.js';

export interface FetchRequest {
  receipts: boolean;
  traces: boolean;
}

const SHORT_WAIT_MS = 5_000;

/** The need that an upstream is chosen for. */
interface Need {
  /** The highest requested block; null if it does not matter. */
  block: number | null;
  request: FetchRequest;
  /** Upstreams that are asked only if there is no other. */
  avoid: ReadonlySet<string>;
  /** Upstreams that are not asked again. */
  exhausted: ReadonlySet<string>;
  /** What it is asked for; default: urgent. */
  use?: Use;
}

/**
 * The best upstream for a need, or null. Only those that offer the methods; of them first those that are not to be
 * avoided, failed no proof, are on no other branch, have the block and may be asked now. Then by priority, room and
 * latency.
 */
export function chooseNode(nodes: readonly BatchUpstream[], need: Need): BatchUpstream | null {
  let best: { node: BatchUpstream; rank: number[] } | null = null;
  for (const node of nodes) {
    if (node.excluded || need.exhausted.has(node.name) || !offers(node, need.request)) continue;
    const rank = [
      need.avoid.has(node.name) ? 1 : 0,
      node.isSuspect() ? 1 : 0,
      need.block !== null && node.head !== null && node.head < need.block ? 1 : 0,
      waitRank(node.waitMs(need.use)),
      node.priority,
      node.limit.load >= node.limit.limit ? node.limit.load / node.limit.limit : 0,
      node.latencyMs ?? 0,
    ];
    if (best === null || isLess(rank, best.rank)) best = { node, rank };
  }
  return best?.node ?? null;
}

/** How many requests may be in flight at the upstreams that share a need's work: those as good as the best. */
export function countRoom(nodes: readonly BatchUpstream[], need: Need): number {
  const best = chooseNode(nodes, need);
  if (best === null || best.waitMs(need.use) > 0) return 1;
  return nodes
    .filter(
      (node) =>
        node === best ||
        (!node.excluded &&
          node.priority === best.priority &&
          node.waitMs(need.use) === 0 &&
          !node.isSuspect() &&
          offers(node, need.request)),
    )
    .reduce((sum, node) => sum + node.limit.limit, 0);
}

/** Whether an upstream offers, as far as known, the methods that a request needs. */
export function offers(node: BatchUpstream, request: FetchRequest): boolean {
  return (
    (!request.receipts || node.capabilities.receipts.mode !== null) &&
    (!request.traces || node.capabilities.traces.mode !== null)
  );
}

/** A short rest is preferred to a long one. */
function waitRank(waitMs: number): number {
  if (waitMs === 0) return 0;
  return waitMs <= SHORT_WAIT_MS ? 1 : 2;
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] as number;
    if (value !== other) return value < other;
  }
  return false;
}
