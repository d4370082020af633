import type { Network } from '@packhouse/networks';
import { type Clock, type Context, PackhouseError, type Scope } from '@packhouse/runtime';
import type { CallContext, UpstreamNode } from '../calls/node.js';
import type { Fault } from '../upstream/fault.js';
import type { CallMetrics } from '../upstream/metrics.js';
import type { BlockAnchor } from './ask-head.js';
import { askHead, askHeaders, type NodeHead } from './ask-head.js';
import { chooseHead, type FoundHead } from './choose-head.js';
import { isHealthy } from './choose-node.js';

/** The newest block and the newest final one, as the pool sees them. */
export interface ChainHead {
  number: number;
  hash: string;
  parentHash: string;
  /** By the `finalized` tag or by depth; -1 if nothing is final yet. */
  finalized: number;
  /** The hash of that block, if the upstreams returned it for the tag. */
  finalizedHash: string | null;
  /** The upstream whose head it is. */
  upstream: string;
}

/** Time that the other upstreams have to return their head after the first did. */
const HEAD_GRACE_MS = 250;
/** A head that came too late for its own look counts at the next looks, for this long. */
const FRESH_MS = 2_000;
/** An upstream on another chain is asked for its chain again after this time. */
const EXCLUDED_MS = 60_000;

interface Told {
  head: NodeHead;
  branch: Branch;
  at: number;
}

/**
 * Finds the head of the pool.
 *
 *   every upstream: head ─▶ has it the anchor? ─yes─▶ candidate ─▶ the highest that most agree with
 *                                │no                   (finalized: the highest that a candidate reports)
 *                                ▼
 *                asked last from now on; REORG_BELOW_FINALITY if no upstream has the anchor
 */
export function createPoolHead(parts: {
  nodes: readonly UpstreamNode[];
  network: Network;
  context: Context;
  metrics: CallMetrics;
  nobody: () => Error;
}): (scope: Scope, anchor: BlockAnchor | null) => Promise<ChainHead> {
  const { context, metrics, network, nodes } = parts;
  const { clock, logger } = context;
  const told = new Map<UpstreamNode, Told>();
  const pending = new Map<UpstreamNode, Promise<void>>();
  const errors = new Map<UpstreamNode, Error>();
  let excludedAskedAt = clock.elapsed();
  let last: string | null = null;

  const ask = async (node: UpstreamNode, scope: Scope, anchor: BlockAnchor | null): Promise<void> => {
    const context = { scope, urgent: true };
    const head = await askHead(node, network.finality.tag, context);
    if ('action' in head) {
      errors.set(node, head.error);
      return;
    }
    const branch = await judgeBranch(node, head, anchor, clock, context);
    noteBranch(node, branch, anchor);
    told.set(node, { head, branch, at: clock.elapsed() });
  };

  /** One request at a time per upstream: one that hangs is not asked again and again. */
  const askOnce = (node: UpstreamNode, scope: Scope, anchor: BlockAnchor | null): Promise<void> => {
    const open = pending.get(node);
    if (open !== undefined) return open;
    const asked = ask(node, scope, anchor).finally(() => pending.delete(node));
    pending.set(node, asked);
    return asked;
  };

  const noteBranch = (node: UpstreamNode, branch: Branch, anchor: BlockAnchor | null): void => {
    const off = branch.is === 'off';
    if (branch.is === 'unknown' || off === node.offChain) return;
    node.offChain = off;
    const facts = { network: network.id, upstream: node.name, block: anchor?.number };
    if (off) {
      logger.warn(
        { ...facts, expected: anchor?.hash, got: branch.got },
        'node has another block where one is final: asking it last',
      );
    } else logger.info(facts, 'node agrees again about what is final');
  };

  return async (scope, anchor) => {
    if (clock.elapsed() - excludedAskedAt > EXCLUDED_MS) {
      excludedAskedAt = clock.elapsed();
      for (const node of nodes) if (node.excluded !== null) node.askChain(scope).catch(() => undefined);
    }
    const able = nodes.filter((node) => node.excluded === null);
    // Resting upstreams are not asked, unless there is no other.
    const awake = able.filter((node) => node.waitMs() === 0);
    const asked = awake.length > 0 ? awake : able;
    errors.clear();
    const since = clock.elapsed();
    const answered = (node: UpstreamNode): Told | undefined => {
      const one = told.get(node);
      return one !== undefined && one.at >= since ? one : undefined;
    };
    // If an upstream is on another branch or behind, the others are still awaited.
    const enough = (): boolean => asked.some((node) => answered(node)?.branch.is === 'on');
    const work = asked.map((node) =>
      askOnce(node, scope, anchor).catch((error: unknown) => {
        scope.signal.throwIfAborted();
        // The look that asked it was aborted, and its request too: the next look asks again.
        errors.set(node, error instanceof Error ? error : new Error(String(error)));
      }),
    );
    await untilFirstAndGrace(work, enough, clock, scope.signal);
    for (const node of nodes) {
      metrics.healthy(node.name, isHealthy(node, clock.elapsed()));
      if (node.head !== null) metrics.head(node.name, node.head);
    }

    const fresh = asked.flatMap((node) => {
      const one = told.get(node);
      return one === undefined || one.at < since - FRESH_MS ? [] : [{ node, ...one }];
    });
    const on = fresh.filter(({ branch }) => branch.is === 'on');
    if (on.length === 0) {
      const off = fresh.find(({ branch }) => branch.is === 'off');
      if (off !== undefined && anchor !== null) throw belowFinality(network, off.node, off.branch, anchor);
      const mute = fresh.find(({ branch }) => branch.is === 'unknown');
      if (mute?.branch.is === 'unknown') throw mute.branch.fault?.error ?? unsaid(network, mute.node, anchor);
    }
    const behind = fresh.filter(({ branch }) => branch.is === 'behind');
    const candidates: FoundHead[] = on.length > 0 ? on : behind;
    const best = await chooseHead(candidates, last, { scope, urgent: true });
    if (best === null) throw [...errors.values()][0] ?? able[0]?.lastFault?.error ?? parts.nobody();
    last = best.head.hash;
    return { ...finality(network, candidates, best), upstream: best.node.name };
  };
}

/** A lagging upstream is no reorganisation: the highest block that any of them reports as final is final. */
function finality(
  network: Network,
  candidates: readonly FoundHead[],
  best: FoundHead,
): Omit<ChainHead, 'upstream'> {
  const { hash, number, parentHash } = best.head;
  let top: { number: number; hash: string } | null = null;
  for (const { head } of candidates) {
    if (head.finalized !== null && (top === null || head.finalized.number > top.number)) top = head.finalized;
  }
  if (top === null)
    return {
      number,
      hash,
      parentHash,
      finalized: Math.max(-1, number - network.finality.depth),
      finalizedHash: null,
    };
  if (top.number >= number) return { number, hash, parentHash, finalized: number, finalizedHash: hash };
  return { number, hash, parentHash, finalized: top.number, finalizedHash: top.hash };
}

/** The chain has another block in place of a final one. */
function belowFinality(
  network: Network,
  node: UpstreamNode,
  branch: Branch,
  anchor: BlockAnchor,
): PackhouseError {
  const got = branch.is === 'off' ? branch.got : 'nothing';
  return new PackhouseError({
    code: 'REORG_BELOW_FINALITY',
    message: `Block ${anchor.number} of ${network.id} is final with hash ${anchor.hash}, and node ${node.label.text} says ${got}.`,
    hint: 'Check which chain the nodes follow. Nothing is staged at the head until they agree again, or `packhouse alarms clear` says to go on with what they have now.',
    data: { network: network.id, number: anchor.number, expected: anchor.hash, got, upstream: node.name },
  });
}

function unsaid(network: Network, node: UpstreamNode, anchor: BlockAnchor | null): PackhouseError {
  return new PackhouseError({
    code: 'NODE_ANSWER_MISSING',
    message: `Node ${node.label.text} answered null for block ${anchor?.number} of ${network.id}, which is final, though its head is ${node.head}.`,
    hint: 'It may be several nodes behind one address, not all of them as far; it is asked again.',
    data: { upstream: node.name, block: anchor?.number },
  });
}

/** Waits for all, but no longer than a grace period once there is `enough`. */
async function untilFirstAndGrace(
  work: readonly Promise<void>[],
  enough: () => boolean,
  clock: Context['clock'],
  signal: AbortSignal,
): Promise<void> {
  const all = Promise.all(work);
  const first = new Promise<void>((resolve) => {
    for (const one of work) {
      one.then(
        () => enough() && resolve(),
        () => undefined,
      );
    }
  });
  await Promise.race([all, first]);
  if (!enough() || work.length === 1) return;
  const late = new AbortController();
  const stop = (): void => late.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([all, clock.sleep(HEAD_GRACE_MS, late.signal).catch(() => undefined)]);
  } finally {
    late.abort();
    signal.removeEventListener('abort', stop);
  }
}

/** The known state of the branch that an upstream follows. */
type Branch =
  /** It has the anchor. */
  | { is: 'on' }
  /** It has not reached the anchor yet. */
  | { is: 'behind' }
  /** It has another block in the anchor's place. */
  | { is: 'off'; got: string }
  /** It did not answer. */
  | { is: 'unknown'; fault: Fault | null };

/** A branch that had the anchor and only grew since is not checked again for this long. */
const TRUST_MS = 30_000;

/** Asks an upstream whether its chain has the anchor, unless that follows from what is known already. */
async function judgeBranch(
  node: UpstreamNode,
  head: NodeHead,
  anchor: BlockAnchor | null,
  clock: Clock,
  context: CallContext,
): Promise<Branch> {
  if (anchor === null) return { is: 'on' };
  if (head.number < anchor.number) return { is: 'behind' };
  const { confirmed } = node;
  const grew = confirmed !== null && (head.hash === confirmed.hash || head.parentHash === confirmed.hash);
  if (grew && clock.elapsed() - confirmed.at < TRUST_MS) {
    node.confirmed = { hash: head.hash, at: confirmed.at };
    return { is: 'on' };
  }
  let got = head.number === anchor.number ? head.hash : null;
  if (got === null) {
    const headers = await askHeaders(node, [anchor.number], context);
    if ('action' in headers) return { is: 'unknown', fault: headers };
    got = headers[0]?.hash ?? null;
  }
  if (got === null) return { is: 'unknown', fault: null };
  node.confirmed = got === anchor.hash ? { hash: head.hash, at: clock.elapsed() } : null;
  return got === anchor.hash ? { is: 'on' } : { is: 'off', got };
}
