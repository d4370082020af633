import type { Network } from '@packhouse/networks';
import {
  type Clock,
  type Context,
  openScope,
  PackhouseError,
  type Scope,
  untilAborted,
} from '@packhouse/runtime';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext } from '../calls/call.js';
import type { Fault } from '../upstream/fault.js';
import { chooseHead, type FoundHead } from './choose-head.js';
import { createFinalBranches, type NodeFinding, type Tie } from './final-branches.js';
import { createHeadVotes } from './head-votes.js';
import { type BlockAnchor, type BlockHeader, fetchHeaders, type NodeHead, pollHead } from './poll-head.js';

/** The newest block and the newest final one, as the pool sees them. */
export interface ChainHead extends BlockHeader {
  /** By the `finalized` tag or by depth; -1 if nothing is final yet. */
  finalized: number;
  /** The hash of that block, if the upstreams returned it for the tag. */
  finalizedHash: string | null;
  /** The upstream whose head it is. */
  upstream: string;
}

/** Time that the other upstreams have to return their head after the first did. */
const HEAD_GRACE_MS = 250;
/** A head that came too late for its own poll counts at the next ones, for this long. */
const FRESH_MS = 2_000;
/** An upstream on another chain is asked for its chain again after this time. */
const EXCLUDED_MS = 60_000;

/** What a poll asks for. */
interface Ask {
  anchor: BlockAnchor | null;
  /** If not, what an upstream told as final before counts. */
  asksFinalized: boolean;
}

interface Poll {
  head: NodeHead;
  branch: Branch;
  at: number;
}

/**
 * Finds the head of the pool.
 *
 *   every upstream: head ─▶ has it the anchor? ─yes─▶ candidate ─▶ the highest that is on no branch of a minority
 *                                │no                   (finalized: the highest that a candidate reports)
 *                                ▼
 *                asked last from now on; REORG_BELOW_FINALITY if no upstream has the anchor
 *
 * Those of which most others have another final block are left out; NODES_DISAGREE in a tie.
 */
export function createPoolHead(parts: {
  nodes: readonly BatchUpstream[];
  network: Network;
  context: Context;
  nobody: () => Error;
  onFinding?: ((finding: NodeFinding) => void) | undefined;
}): (scope: Scope, ask: Ask) => Promise<ChainHead> {
  const { context, network, nodes, onFinding } = parts;
  const { clock } = context;
  const { depth, tag } = network.finality;
  const branches = createFinalBranches({
    network: network.id,
    nodes,
    context,
    onFinding,
    ask: async (node, number) => (await askHashes(node, [number], context.signal))[0] ?? null,
  });
  const votes = createHeadVotes({
    network: network.id,
    nodes,
    context,
    onFinding,
    ask: (node, numbers) => askHashes(node, numbers, context.signal),
  });
  const polls = new Map<BatchUpstream, Poll>();
  const pending = new Map<BatchUpstream, Promise<void>>();
  const errors = new Map<BatchUpstream, Error>();
  let excludedAskedAt = clock.elapsed();
  let last: string | null = null;

  const poll = async (node: BatchUpstream, scope: Scope, { anchor, asksFinalized }: Ask): Promise<void> => {
    const context = { scope, urgent: true };
    const finalized = { asked: tag, known: asksFinalized ? null : polls.get(node)?.head.finalized };
    const head = await pollHead(node, finalized, context);
    if ('action' in head) {
      errors.set(node, head.error);
      branches.heard(node, null);
      votes.heard(node, null);
      return;
    }
    votes.heard(node, head);
    const byDepth = tag ? null : { number: Math.max(0, head.number - depth), hash: null };
    branches.heard(node, { head: head.number, final: head.finalized ?? byDepth });
    const branch = await judgeBranch(node, head, anchor, clock, context);
    noteBranch(parts, node, branch, anchor);
    polls.set(node, { head, branch, at: clock.elapsed() });
  };

  /** One request at a time per upstream: one that hangs is not asked again and again. */
  const pollOnce = (node: BatchUpstream, scope: Scope, ask: Ask): Promise<void> => {
    const open = pending.get(node);
    if (open !== undefined) return open;
    const asked = poll(node, scope, ask).finally(() => pending.delete(node));
    pending.set(node, asked);
    return asked;
  };

  return async (scope, ask) => {
    if (clock.elapsed() - excludedAskedAt > EXCLUDED_MS) {
      excludedAskedAt = clock.elapsed();
      for (const node of nodes) if (node.exclusion !== null) node.verifyChain(scope).catch(() => undefined);
    }
    const able = nodes.filter((node) => node.exclusion === null);
    // Resting upstreams are not asked, unless there is no other.
    const awake = able.filter((node) => node.leftOut !== null || node.waitMs() === 0);
    const asked = awake.length > 0 ? awake : able;
    errors.clear();
    const since = clock.elapsed();
    const answered = (node: BatchUpstream): Poll | undefined => {
      const one = polls.get(node);
      return one !== undefined && one.at >= since ? one : undefined;
    };
    // If an upstream is on another branch or behind, the others are still awaited.
    const enough = (): boolean => asked.some((node) => answered(node)?.branch.is === 'on');
    const work = asked.map((node) =>
      pollOnce(node, scope, ask).catch((error: unknown) => {
        scope.signal.throwIfAborted();
        // The poll that asked it was aborted, and its request too: the next one asks again.
        errors.set(node, error instanceof Error ? error : new Error(String(error)));
      }),
    );
    await untilFirstAndGrace(work, enough, clock, scope.signal);
    await untilAborted(Promise.all([branches.judge(), votes.judge()]), scope.signal);
    const tie = branches.tie();
    if (tie !== null) throw buildTieError(network, tie);
    countHeads(nodes);
    const fresh = asked.flatMap((node) => {
      const one = node.excluded ? undefined : polls.get(node);
      return one === undefined || one.at < since - FRESH_MS ? [] : [{ node, ...one }];
    });
    const on = fresh.filter(({ branch }) => branch.is === 'on');
    if (on.length === 0) refuseOff(network, fresh, ask.anchor);
    const known = on.length > 0 ? on : fresh.filter(({ branch }) => branch.is === 'behind');
    const candidates: FoundHead[] = known.filter(({ node }) => !votes.isOut(node));
    const best = await chooseHead(candidates, last, { scope, urgent: true });
    if (best === null) throw [...errors.values()][0] ?? able[0]?.lastFault?.error ?? parts.nobody();
    last = best.head.hash;
    return toChainHead(network, candidates, best);
  };
}

function countHeads(nodes: readonly BatchUpstream[]): void {
  for (const node of nodes) {
    node.metrics.healthy(node.isHealthy());
    if (node.head !== null) node.metrics.head(node.head);
  }
}

async function askHashes(
  node: BatchUpstream,
  numbers: readonly number[],
  signal: AbortSignal,
): Promise<(string | null)[]> {
  const scope = openScope(signal);
  try {
    const headers = await fetchHeaders(node, numbers, { scope, urgent: true });
    return 'action' in headers ? [] : headers.map((header) => header?.hash ?? null);
  } finally {
    scope.close();
  }
}

/** Notes whether an upstream has the anchor, and logs a change. */
function noteBranch(
  { context: { logger }, network }: { context: Context; network: Network },
  node: BatchUpstream,
  branch: Branch,
  anchor: BlockAnchor | null,
): void {
  const off = branch.is === 'off';
  if (branch.is === 'unknown' || off === node.offChain) return;
  node.offChain = off;
  const facts = { network: network.id, upstream: node.name, block: anchor?.number };
  if (off) {
    logger.warn(
      { ...facts, expected: anchor?.hash, got: branch.got },
      'upstream has another block in place of a final one: asked last',
    );
  } else logger.info(facts, 'upstream agrees about final blocks again');
}

/** A lagging upstream is no reorganisation: the highest block that any of them reports as final is final. */
function toChainHead(network: Network, candidates: readonly FoundHead[], best: FoundHead): ChainHead {
  const { hash, number, parentHash } = best.head;
  const [top] = candidates.flatMap(({ head }) => head.finalized ?? []).sort((a, b) => b.number - a.number);
  const byDepth = { number: Math.max(-1, number - network.finality.depth), hash: null };
  const final = top === undefined ? byDepth : top.number < number ? top : best.head;
  return {
    number,
    hash,
    parentHash,
    finalized: final.number,
    finalizedHash: final.hash,
    upstream: best.node.name,
  };
}

/** Throws if one has another block in the anchor's place, or does not say which; others are behind. */
function refuseOff(
  network: Network,
  fresh: readonly { node: BatchUpstream; branch: Branch }[],
  anchor: BlockAnchor | null,
): void {
  const off = fresh.find(({ branch }) => branch.is === 'off');
  if (off !== undefined && anchor !== null) throw buildReorgError(network, off.node, off.branch, anchor);
  const mute = fresh.find(({ branch }) => branch.is === 'unknown');
  if (mute?.branch.is === 'unknown')
    throw mute.branch.fault?.error ?? buildMissingError(network, mute.node, anchor);
}

/** The chain has another block in place of a final one. */
function buildReorgError(
  network: Network,
  node: BatchUpstream,
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

/** No branch has the most upstreams. */
function buildTieError(network: Network, { agreed, reason }: Tie): PackhouseError {
  return new PackhouseError({
    code: 'NODES_DISAGREE',
    message: `The nodes of ${network.id} have different final blocks, and none of them more nodes than the others: ${reason}.`,
    hint: 'Add a node, or cordon those that are wrong: `packhouse nodes cordon`. Nothing is staged at the head until then.',
    data: { network: network.id, agreed },
  });
}

function buildMissingError(
  network: Network,
  node: BatchUpstream,
  anchor: BlockAnchor | null,
): PackhouseError {
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
  const late = openScope(signal);
  await Promise.race([all, clock.sleep(HEAD_GRACE_MS, late.signal).catch(() => undefined)]).finally(() => {
    late.abort(new Error('the heads are known'));
    late.close();
  });
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
  node: BatchUpstream,
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
    const headers = await fetchHeaders(node, [anchor.number], context);
    if ('action' in headers) return { is: 'unknown', fault: headers };
    got = headers[0]?.hash ?? null;
  }
  if (got === null) return { is: 'unknown', fault: null };
  node.confirmed = got === anchor.hash ? { hash: head.hash, at: clock.elapsed() } : null;
  return got === anchor.hash ? { is: 'on' } : { is: 'off', got };
}
