import type { Context } from '@packhouse/runtime';
import type { Upstream } from '../upstream/upstream.js';
import {
  addSilent,
  createFinalVotes,
  describeGroups,
  type Group,
  getAgreed,
  groupByHash,
  heaviest,
  listNames,
  type Member,
  mayVote,
} from './final-votes.js';

/*
 * Which nodes are on the chain that most of them have.
 *
 *   each poll of a node: its final block ─▶ common heights ─▶ the hash of each node there ─▶ groups by hash
 *                                                                                              │
 *      one group: all are in        ◀──────────────────────────────────────────────────────────┤
 *      one has the most nodes: the others are left out, until they have its hash               │
 *      a tie: nobody is believed beyond the block that all agreed about          ◀─────────────┘
 */

/** Why the nodes of a pool cannot be believed beyond a block. */
export interface Tie {
  /** The highest final block that all of them agreed about; -1: none is known. */
  agreed: number;
  /** A clause without addresses: which nodes have which block. */
  reason: string;
}

/** What is wrong about a node, or about all of them (`upstream: null`). What it said before is not to be believed. */
export interface NodeFinding {
  kind: 'minority' | 'tie' | 'changed' | 'another-chain' | 'false-answer' | 'outvoted';
  upstream: string | null;
  /** A clause. */
  reason: string;
}

interface BranchParts<U> {
  network: string;
  nodes: readonly U[];
  context: Pick<Context, 'logger'>;
  /** Asks a node for the hash of a block; null: it did not tell one. */
  ask(node: U, number: number): Promise<string | null>;
  onFinding?: ((finding: NodeFinding) => void) | undefined;
  /** Called when a node was left out. */
  onLeftOut?: (node: U) => void;
  /** Called for each node that answers, once it was compared with all others that answer. */
  onCompared?: (node: U) => void;
}

/**
 * Keeps the final blocks of a pool, and leaves out the nodes of which most others have another one. While they agree, a
 * node is asked at most once for a height, and not for what it told already.
 */
export function createFinalBranches<U extends Upstream>(parts: BranchParts<U>) {
  const { context, network, onCompared = () => undefined, onFinding } = parts;
  const onChanged = ({ name }: U, reason: string): void => {
    context.logger.warn({ network, upstream: name, reason }, 'upstream changed a final block');
    onFinding?.({ kind: 'changed', upstream: name, reason });
  };
  const votes = createFinalVotes<U>({ ...parts, onChanged });
  const { members } = votes;
  const out = new Set<U>();
  let tie: { groups: Group<U>[]; height: number } | null = null;

  const judgeOnce = async (): Promise<void> => {
    let found: typeof tie = null;
    let compared = false;
    const differing: number[] = [];
    const lost = new Set<U>();
    const confirmed = new Map<U, number>();
    for (const height of votes.getHeights()) {
      const groups = groupByHash(await votes.collect(height));
      if (groups.length > 1) {
        differing.push(height);
        addSilent(members, groups);
      }
      const best = heaviest(groups);
      if (groups.length > 1 && best === null) found ??= { groups, height };
      if (best === null || groups.reduce((sum, { nodes }) => sum + nodes.length, 0) < 2) continue;
      compared = true;
      for (const group of groups) {
        for (const node of group.nodes) {
          if (group !== best) {
            lost.add(node);
            leaveOut(node, height, group.hash, best);
          } else if (best.nodes.length > 1) confirmed.set(node, height);
        }
      }
    }
    votes.differAt(differing);
    for (const [node, height] of confirmed) {
      if (!lost.has(node) && height >= (members.get(node) as Member).lostAt) readmit(node);
    }
    const ended = tie !== null && tie.groups.filter(({ nodes }) => nodes.some(mayVote)).length < 2;
    if (found !== null || compared || ended) setTie(found);
    if ([...members.values()].some(({ state }) => state === 'pending')) return;
    for (const [node, { state }] of members) if (state === 'live') onCompared(node);
  };

  const leaveOut = (node: U, height: number, hash: string, best: Group<U>): void => {
    const isNew = !out.has(node);
    out.add(node);
    const reason = `its final block ${height} is ${hash}, that of ${listNames(best.nodes)} is ${best.hash}`;
    (members.get(node) as Member).lostAt = height;
    node.leaveOut(reason, 'final');
    if (!isNew) return;
    const facts = { network, upstream: node.name, block: height, expected: best.hash, got: hash };
    context.logger.warn(facts, 'upstream has another final block than most others: left out');
    parts.onLeftOut?.(node);
    onFinding?.({ kind: 'minority', upstream: node.name, reason });
  };
  /** One that nobody confirms, at the block that it was left out for or a later one, does not come back. */
  const readmit = (node: U): void => {
    if (!out.delete(node)) return;
    node.leaveOut(null, 'final');
    context.logger.info({ network, upstream: node.name }, 'upstream has the final block of the others again');
  };
  const setTie = (found: typeof tie): void => {
    const before = tie;
    tie = found;
    if (found !== null && before === null) {
      const reason = describeGroups(found.groups, found.height);
      context.logger.warn({ network, reason }, 'upstreams disagree about a final block: a tie');
      onFinding?.({ kind: 'tie', upstream: null, reason });
    } else if (found === null && before !== null)
      context.logger.info({ network }, 'upstreams agree about final blocks again');
  };
  /** Compares the nodes; resolves when all that was heard before the call was compared. Never rejects. */
  const judge = oneAtATime(judgeOnce);

  return {
    judge,
    heard: votes.heard,
    /** Notes the hash of a block that cannot change: the genesis. */
    told: votes.learn,
    /** Those that were not heard yet are not awaited any more. */
    goOn(): Promise<void> {
      for (const member of members.values()) if (member.state === 'pending') member.state = 'silent';
      return judge();
    },
    /** Whether all nodes were asked. */
    isComplete: (): boolean => [...members.values()].every(({ state }) => state !== 'pending'),
    /** Set while no branch has the most nodes. */
    tie(): Tie | null {
      if (tie === null) return null;
      const agreed = getAgreed(
        members,
        tie.groups.flatMap((group) => group.nodes),
      );
      return { agreed, reason: describeGroups(tie.groups, tie.height) };
    },
  };
}

/** Runs work that is requested while it runs once more afterwards. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  return () => {
    again = true;
    running ??= (async () => {
      while (again) {
        again = false;
        await work();
      }
    })().finally(() => {
      running = undefined;
    });
    return running;
  };
}
