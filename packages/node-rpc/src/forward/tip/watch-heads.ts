import type { Network } from '@packhouse/networks';
import { CallController, type Context, openScope, type Scope } from '@packhouse/runtime';
import { createFinalBranches, type NodeFinding, type Tie } from '../../heads/final-branches.js';
import type { FinalBlock } from '../../heads/final-votes.js';
import { createHeadVotes } from '../../heads/head-votes.js';
import { readHeader } from '../../heads/poll-head.js';
import {
  FINALIZED_REQUEST,
  getHeaderRequest,
  getHeadRequest,
  readHash,
} from '../../upstream/node-requests.js';
import type { ForwardUpstream } from '../send/forward-upstream.js';
import { createUpstreamChecks, probe, probeHash } from './check-upstream.js';
import { createSharedReads } from './shared-tips.js';

interface WatchParts {
  network: Network;
  nodes: readonly ForwardUpstream[];
  context: Context;
  signal: AbortSignal;
  /** The newest block advertised, here or by another gateway. */
  advertised(): number | null;
  /** An upstream has this head, or this final block by the tag. */
  onBlock(tag: 'latest' | 'finalized', number: number): void;
  /** Called with each reason not to believe what an upstream said. */
  onFinding(finding: NodeFinding): void;
  /** Called when an upstream was left out, or left its branch: its numbers do not count any more. */
  onLeftOut(): void;
}

/** A network without calls for this long is polled rarely; a filter expires earlier without being polled. */
const IDLE_AFTER_MS = 300_000;
/** The poll interval of an idle network. */
const IDLE_EVERY_MS = 45_000;
/** A network without calls is in use for this long at the start, so that the first heads arrive. */
const START_MS = 30_000;
const REFRESH_MS = 1_500;
/** Two polls that nobody waits for are this far apart. */
const POLL_GAP_MS = 100;

/** The watch of a family without heads. */
const NO_WATCH = {
  used: (): Promise<void> | undefined => undefined,
  poll: (_: readonly ForwardUpstream[]): void => undefined,
  pollNow: async (_: ForwardUpstream): Promise<number | null> => null,
  tie: (): Tie | null => null,
  ended: Promise.resolve(),
};

/** Asks every upstream for its chain and its head, repeatedly, until the signal is aborted. */
export function watchHeads(parts: WatchParts): typeof NO_WATCH {
  const { context, network, nodes, onBlock, signal } = parts;
  const { clock } = context;
  const question = getHeadRequest(network);
  if (question === null) return NO_WATCH;
  const everyMs = Math.min(network.pollIntervalMs, 5_000);
  const comparison = network.family === 'evm' ? createComparison(parts) : undefined;
  const checks = createUpstreamChecks({ ...parts, onGenesis: comparison?.onGenesis });
  const watchFinality = comparison === undefined ? undefined : createFinalityWatch(parts);

  const pollHead = async (node: ForwardUpstream): Promise<number | null> => {
    const sentAt = performance.now();
    const answer = await probe(node, question, signal);
    const head = answer?.kind === 'result' ? question.read(answer.value) : null;
    if (answer?.kind !== 'result' || head === null || node.exclusion !== null) return null;
    const hash = readHash(answer.value);
    await comparison?.compareHead(node, answer.value);
    if (node.leftOut !== null) return head;
    if (!(await checks.delivers(node, head))) return null;
    const note = (): void => noteHead(node, { number: head, hash }, sentAt, onBlock);
    if (comparison === undefined) note();
    else comparison.whenCompared(node, note);
    return head;
  };
  /** Polls all that is watched of an upstream. */
  const pollAll = async (
    node: ForwardUpstream,
    poll: () => Promise<number | null>,
    wasIdle = false,
  ): Promise<void> => {
    const head = (await checks.isOnChain(node, wasIdle)) ? await poll() : null;
    const final = (await watchFinality?.(node, head)) ?? null;
    comparison?.heard(node, head === null ? null : { head, final });
  };
  const polls = new Map(nodes.map((node) => [node, createSharedReads(() => pollHead(node))]));
  const pollNow = async (node: ForwardUpstream): Promise<number | null> =>
    (await polls.get(node)?.next()) ?? null;

  let usedAt = clock.elapsed() - IDLE_AFTER_MS + START_MS;
  const isIdle = (): boolean => clock.elapsed() - usedAt > IDLE_AFTER_MS;
  let refreshing: Promise<void> | undefined;
  const sleeping = new Set<Scope>();
  /** Sleeps until the network is in use again, IDLE_EVERY_MS at most. */
  const sleepIdle = async (): Promise<void> => {
    const scope = openScope(signal);
    sleeping.add(scope);
    await clock.sleep(IDLE_EVERY_MS, scope.signal).catch(() => undefined);
    sleeping.delete(scope);
    scope.close();
  };
  const refresh = async (): Promise<void> => {
    for (const each of [...sleeping]) each.abort(undefined);
    const polled = nodes.map((node) => pollAll(node, () => pollNow(node), true));
    const enough = new CallController();
    const late = clock.sleep(REFRESH_MS, enough).catch(() => undefined);
    await Promise.race([Promise.all(polled), late]);
    enough.abort(undefined);
  };
  const watch = async (node: ForwardUpstream): Promise<void> => {
    while (!signal.aborted) {
      await pollAll(node, () => pollHead(node));
      await (isIdle() ? sleepIdle() : clock.sleep(everyMs, signal).catch(() => undefined));
    }
  };
  const ended = Promise.all(nodes.map(watch)).then(() => undefined);

  return {
    /**
     * Notes that the network is in use. At the start, the promise resolves when the upstreams were compared. If the
     * network was not in use for a while, known heads may be old: then it resolves when the upstreams were polled again.
     * Those that do not answer are awaited for REFRESH_MS.
     */
    used(): Promise<void> | undefined {
      const idle = isIdle();
      usedAt = clock.elapsed();
      if (idle)
        refreshing = refresh().finally(() => {
          refreshing = undefined;
        });
      return refreshing ?? comparison?.opening();
    },
    /** Polls the heads of these, unless that is under way or just happened. */
    poll(some: readonly ForwardUpstream[]): void {
      for (const node of some) {
        const own = polls.get(node);
        if (node.excluded || own === undefined || !own.isIdle()) continue;
        if (performance.now() - own.startedAt() >= POLL_GAP_MS) void own.next();
      }
    },
    /** Polls one; resolves with the answer to a request that was sent after this call. Null: there was none. */
    pollNow: async (node: ForwardUpstream): Promise<number | null> => (node.excluded ? null : pollNow(node)),
    /** Set while no branch has the most nodes. */
    tie: comparison?.tie ?? NO_WATCH.tie,
    /** Resolves when the watch has ended. */
    ended,
  };
}

function noteHead(
  node: ForwardUpstream,
  { hash, number }: { number: number; hash: string | null },
  sentAt: number,
  onBlock: WatchParts['onBlock'],
): void {
  node.sawHead(number, sentAt, hash);
  node.metrics.head(number);
  onBlock('latest', number);
}

/** Codes that refuse a parameter or a method; the message decides if the code has several meanings. */
const REFUSES = new Set([-32602, -32601, -32600, -32004, -39001]);
const SAYS_UNKNOWN = /unknown|invalid|not (found|supported|available)|unsupported|unrecogni[sz]ed/i;

/**
 * Keeps `finalized` of the upstreams of one network; called after each poll of a head (null: there was none). Returns what
 * the upstream holds to be final; null: unknown. An
 * answer for the tag counts. The depth counts if the tag is not to be used, and for an upstream that does not know it:
 * but only after all others were asked, and never above what one of them reports. A failed request changes nothing,
 * since answers about final blocks are kept for good.
 */
function createFinalityWatch({
  network,
  nodes,
  onBlock,
  signal,
}: WatchParts): (node: ForwardUpstream, head: number | null) => Promise<FinalBlock | null> {
  const { depth, tag } = network.finality;
  /** Last answers of the upstreams that know the tag. */
  const answered = new Map<ForwardUpstream, number>();
  const unasked = new Set(nodes);

  const note = (node: ForwardUpstream, number: number, hash: string | null): FinalBlock => {
    if (!node.excluded) node.finalized = number;
    return { number, hash };
  };
  return async (node, head) => {
    if (head === null) {
      unasked.delete(node);
      return null;
    }
    const byDepth = Math.max(0, head - depth);
    if (!tag) return note(node, byDepth, null);
    const answer = await probe(node, FINALIZED_REQUEST, signal);
    unasked.delete(node);
    if (answer === null) return null;
    const number = answer.kind === 'result' ? FINALIZED_REQUEST.read(answer.value) : null;
    if (number !== null) {
      answered.set(node, number);
      if (!node.excluded) {
        node.tagged = number;
        onBlock('finalized', number);
      }
      return note(node, number, answer.kind === 'result' ? readHash(answer.value) : null);
    }
    const isUnknown =
      answer.kind === 'result'
        ? answer.value === null
        : REFUSES.has(answer.code) || (answer.code === -32000 && SAYS_UNKNOWN.test(answer.message));
    if (!isUnknown || answered.has(node) || unasked.size > 0) return null;
    const others = [...answered].flatMap(([other, final]) => (other.excluded ? [] : final));
    return note(node, Math.min(byDepth, others.length === 0 ? byDepth : Math.max(...others)), null);
  };
}

type ComparisonParts = Omit<WatchParts, 'advertised'>;

/** At the start, upstreams that have not answered by then are not awaited. */
const FIRST_MS = 1_500;

/** Compares the heads and the final blocks of the upstreams. What is said by one that was not compared yet is not noted before. */
function createComparison(parts: ComparisonParts) {
  const { context, network, nodes, onBlock, onFinding, onLeftOut, signal } = parts;
  const waiting = new Map<ForwardUpstream, () => void>();
  const hasOthers = nodes.length > 1;
  for (const node of nodes) node.isCompared = !hasOthers;
  const ask = (node: ForwardUpstream, number: number): Promise<string | null> =>
    probeHash(node, getHeaderRequest(network, number), number, signal);
  const votes = createHeadVotes({
    network: network.id,
    nodes,
    context,
    onFinding,
    ask: (node, numbers) => Promise.all(numbers.map((number) => ask(node, number))),
    onChange(node, reason, { hash, number }) {
      node.leaveOut(reason, 'head');
      if (reason !== null) onLeftOut();
      else if (!node.excluded) noteHead(node, { number, hash }, performance.now(), onBlock);
    },
    onBranchLeft(node, { hash, number }) {
      node.sawHead(number, performance.now(), hash);
      onLeftOut();
    },
  });
  const branches = createFinalBranches({
    network: network.id,
    nodes,
    context,
    onFinding,
    onLeftOut,
    ask,
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
    /** Compares a new head with those of the others. */
    compareHead(node: ForwardUpstream, block: unknown): Promise<void> | undefined {
      votes.heard(node, readHeader(block));
      return nodes.length < 3 ? undefined : votes.judge();
    },
    heard(...heard: Parameters<typeof branches.heard>): void {
      branches.heard(...heard);
      const [node, answer] = heard;
      if (answer === null) votes.heard(node, null);
      if (answer === null && hasOthers) node.isCompared = false;
      const isFirst = opening !== undefined && branches.isComplete();
      void branches.judge().then(() => isFirst && opened.abort(undefined));
    },
  };
}
