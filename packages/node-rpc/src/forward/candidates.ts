import type { Clock } from '@packhouse/runtime';
import type { Tie } from '../heads/final-branches.js';
import type { ForwardRequest, NeededHead } from './send/forward-request.js';
import type { ForwardUpstream } from './send/forward-upstream.js';

/** The upstreams of one network, and what is known of its chain. */
export interface Pool {
  readonly nodes: readonly ForwardUpstream[];
  /** There is one node, and no other gateway: its answers are passed on as they are. */
  readonly single: boolean;
  /** The newest block that an upstream has, or that was advertised by any gateway; null while none is known. */
  newest(): number | null;
  /** The highest final block; null while none is known. */
  finalized(): number | null;
  /** Set while no branch has the most nodes. */
  tie(): Tie | null;
}

/** The upstreams that may answer a call, best first. */
export interface Candidates {
  nodes: readonly ForwardUpstream[];
  /** The head that the others lack; null: none. */
  needed: number | null;
  /** The newest block when the call began; null: unknown. */
  tip: number | null;
  /** All are declared not to have blocks as old as the call's. */
  undeclared?: boolean;
}

/** For a call that names no block, an upstream this many blocks behind the tip, or without a head, is asked after the others. */
const LAG_BLOCKS = 3;
/** How long a call waits at most for a node to reach the block that another one was seen to have. */
const ARRIVAL_MS = 1_500;
/** Meanwhile the nodes are polled this often. */
const POLL_EVERY_MS = 100;

/** Creates the search for candidates; `poll` asks upstreams for their heads. */
export function createCandidateSearch(
  { newest, nodes, single }: Pool,
  poll: (nodes: readonly ForwardUpstream[]) => void,
) {
  const onlyNode: Candidates = { nodes, needed: null, tip: null };
  const arrivals = new Set<() => void>();

  const rank = (request: ForwardRequest): Candidates => {
    if (single && !(nodes[0] as ForwardUpstream).excluded) return onlyNode;
    const tip = newest();
    const needed = getNeededHead(request.block, tip);
    const reachable = nodes.filter((node) => isEligible(node, needed) && !node.history.lacks(request));
    // One that came back may be on another branch by now.
    const compared = reachable.filter(({ isCompared }) => isCompared);
    const eligible = compared.length > 0 ? compared : reachable;
    let undeclared = false;
    if (eligible.length === 0) {
      // What was learnt may be wrong by now; what is declared is not.
      const reaching = nodes.filter((node) => isEligible(node, needed));
      eligible.push(...reaching.filter((node) => node.history.lacks(request) === 'learnt'));
      undeclared = reaching.length > 0 && eligible.length === 0;
      // Any may have the next one by now, and what is answered is not below the newest one.
      if (reaching.length === 0 && request.crossCheck === 'head') {
        eligible.push(...nodes.filter((node) => isEligible(node, null)));
      }
    }
    if (eligible.length > 1) {
      eligible.sort((a, b) => getRank(a, tip) - getRank(b, tip) || getCost(a) - getCost(b));
    }
    return { nodes: eligible, needed, tip, undeclared };
  };

  const arrival = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        arrivals.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      arrivals.add(end);
    });

  return {
    /** The candidates of this moment. */
    rank,
    /** Called when an upstream has a new block. */
    onBlock(): void {
      for (const arrived of [...arrivals]) arrived();
    },
    /**
     * The candidates beside those `tried`. If none has the block yet, or fewer than have to agree, they are polled until
     * they do, for a while.
     */
    async find(request: ForwardRequest, tried: readonly ForwardUpstream[]): Promise<Candidates> {
      const able = nodes.filter(({ excluded }) => !excluded).length;
      const enough = Math.min(request.quorum?.agree ?? 1, able);
      const waitMs = Math.min(ARRIVAL_MS, request.timeoutMs / 2);
      const startedAt = performance.now();
      for (;;) {
        const all = rank(request);
        const found =
          tried.length === 0 ? all : { ...all, nodes: all.nodes.filter((node) => !tried.includes(node)) };
        const waited = performance.now() - startedAt;
        if (found.nodes.length >= enough || found.needed === null || found.undeclared === true) return found;
        if (waited >= waitMs || request.signal.aborted) return found;
        // The preferred ones first: others may cost money.
        const able = nodes.filter((node) => node.waitMs() === 0 && !tried.includes(node));
        if (able.length === 0 && tried.length > 0) return found;
        const first = Math.min(...able.map(({ priority }) => priority));
        poll(2 * waited < waitMs ? able.filter(({ priority }) => priority === first) : nodes);
        await arrival(Math.min(POLL_EVERY_MS, waitMs - waited));
      }
    },
  };
}

/** The rank of an upstream; one that rests is asked last rather than never. */
function getRank(node: ForwardUpstream, tip: number | null): number {
  const lags = tip !== null && (node.head ?? -1) < tip - LAG_BLOCKS;
  return (node.waitMs() > 0 ? 1_000 : 0) + (lags ? 500 : 0) + node.priority;
}

function getCost(node: ForwardUpstream): number {
  return (node.latencyMs ?? 1) * (node.inFlight + 1);
}

/** What is known of an upstream's head. */
type KnownHead = Pick<ForwardUpstream, 'head' | 'headAt' | 'excluded'>;

/** A head that was not heard again for this long does not count while newer ones do. */
const AWAY_MS = 30_000;

/**
 * The highest head of the upstreams on this chain; null while none is known. An upstream that does not answer keeps its
 * head for AWAY_MS, so the tip goes back only after that, or if no upstream reports it any more: a reorganisation or a
 * reset.
 */
export function getTip(nodes: readonly KnownHead[], clock: Pick<Clock, 'elapsed'>): number | null {
  let tip = -1;
  let alike = true;
  for (const { excluded, head } of nodes) {
    if (excluded || head === null) continue;
    if (tip !== -1 && head !== tip) alike = false;
    if (head > tip) tip = head;
  }
  if (tip === -1) return null;
  return alike ? tip : (freshTip(nodes, clock.elapsed() - AWAY_MS) ?? tip);
}

function freshTip(nodes: readonly KnownHead[], since: number): number | null {
  let tip: number | null = null;
  for (const { excluded, head, headAt } of nodes) {
    if (!excluded && head !== null && headAt >= since && head > (tip ?? -1)) tip = head;
  }
  return tip;
}

/**
 * The head that an upstream must have for a call; null: any. A block above the tip, which no upstream is known to have,
 * is asked from those at the tip.
 */
export function getNeededHead(block: NeededHead | undefined, tip: number | null): number | null {
  if (block === undefined || tip === null) return null;
  return block === 'tip' ? tip : Math.min(block, tip);
}

/** Whether an upstream may be asked; one with an unknown head may not, since another's is known if `needed` is. */
export function isEligible({ excluded, head }: Omit<KnownHead, 'headAt'>, needed: number | null): boolean {
  return !excluded && (needed === null || (head !== null && head >= needed));
}

/** Why the upstreams that were not asked, beside those that were `asked`, could not answer; undefined if there are none. */
export function explainNotAsked(
  nodes: readonly KnownHead[],
  needed: number | null,
  asked: boolean,
): string | undefined {
  if (needed === null) return undefined;
  const rest = nodes.filter((node) => !node.excluded && !isEligible(node, needed));
  if (rest.length === 0) return undefined;
  const highest = rest.reduce((most, { head }) => Math.max(most, head ?? -1), -1);
  const known = highest === -1 ? 'no head of them is known' : `the highest head known of them is ${highest}`;
  return `no ${asked ? 'other ' : ''}node is known to have block ${needed}: ${known}`;
}
