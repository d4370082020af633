import type { Network } from '@packhouse/networks';
import { CallController, type Context } from '@packhouse/runtime';
import { createFinalBranches, type NodeFinding } from '../../heads/final-branches.js';
import { getHeaderRequest } from '../../upstream/node-requests.js';
import type { ForwardUpstream } from '../send/forward-upstream.js';
import { probeHash } from './check-upstream.js';

interface ComparisonParts {
  network: Network;
  nodes: readonly ForwardUpstream[];
  context: Context;
  signal: AbortSignal;
  onFinding(finding: NodeFinding): void;
}

/** At the start, upstreams that have not answered by then are not awaited. */
const FIRST_MS = 1_500;

/** Compares the final blocks of the upstreams. What is said by one that was not compared yet is not noted before. */
export function createComparison({ context, network, nodes, onFinding, signal }: ComparisonParts) {
  const waiting = new Map<ForwardUpstream, () => void>();
  const hasOthers = nodes.length > 1;
  for (const node of nodes) node.isCompared = !hasOthers;
  const branches = createFinalBranches({
    network: network.id,
    nodes,
    context,
    onFinding,
    ask: (node, number) => probeHash(node, getHeaderRequest(network, number), number, signal),
    onCompared(node) {
      node.isCompared = true;
      if (node.leftOut === null) waiting.get(node)?.();
      waiting.delete(node);
    },
  });
  const opened = new CallController();
  signal.addEventListener('abort', () => opened.abort(undefined), { once: true });
  let opening: Promise<void> | undefined;
  if (hasOthers) {
    const late = context.clock.sleep(FIRST_MS, opened).then(branches.goOn);
    opening = late
      .catch(() => undefined)
      .finally(() => {
        opening = undefined;
      });
  }
  return {
    tie: branches.tie,
    onGenesis: (node: ForwardUpstream, hash: string): void => branches.told(node, 0, hash),
    /** Resolves when all upstreams were compared for the first time; undefined: they were. */
    opening: (): Promise<void> | undefined => opening,
    /** Calls back when the upstream is compared: at once if it is, since it answered last. */
    whenCompared(node: ForwardUpstream, then: () => void): void {
      if (node.isCompared) then();
      else waiting.set(node, then);
    },
    heard(...heard: Parameters<typeof branches.heard>): void {
      branches.heard(...heard);
      const [node, answer] = heard;
      if (answer === null && hasOthers) node.isCompared = false;
      const isFirst = opening !== undefined && branches.isComplete();
      void branches.judge().then(() => isFirst && opened.abort(undefined));
    },
  };
}
