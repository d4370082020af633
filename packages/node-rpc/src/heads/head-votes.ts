import type { Context } from '@packhouse/runtime';
import type { Upstream } from '../upstream/upstream.js';
import { type NodeFinding, oneAtATime } from './final-branches.js';
import { mayVote, SYNCING_BLOCKS } from './final-votes.js';
import type { BlockHeader } from './poll-head.js';

/*
 * Which nodes are on the branch that most of them have at their heads, before anything of it is final.
 *
 *   each poll of a node: its head ─▶ is the head of each lower node on its chain? ─▶ the nodes on its chain follow it
 *                                                                                            │
 *      one is out:    a head on another branch has more followers than any that it follows ◀─┤
 *      it is back:    it is on the chain of one that is not out, or more follow it           │
 *      as many:       what was decided before holds                                        ◀─┘
 */

interface VoteParts<U> {
  network: string;
  nodes: readonly U[];
  context: Pick<Context, 'clock' | 'logger'>;
  /** Asks a node for the hashes of these blocks; null for each that it did not tell. */
  ask(node: U, numbers: readonly number[]): Promise<readonly (string | null)[]>;
  onFinding?: ((finding: NodeFinding) => void) | undefined;
  /** Called when a node goes out (with a clause why), or is back with this head (null). */
  onChange?: (node: U, reason: string | null, head: BlockHeader) => void;
  /** Called when a node left the branch that it had for this head, and no other has it. */
  onBranchLeft?: (node: U, head: BlockHeader) => void;
}

/** What is known of one node. */
interface Ballot<U> {
  node: U;
  head: BlockHeader;
  /** Hashes of its head's chain, by number; null: asked for in vain. */
  chain: Map<number, string | null>;
  live: boolean;
  /** When it answered last, in the clock's milliseconds. */
  at: number;
}

/** A node that does not answer votes for this long with its last head. One that is out for as long is reported. */
const SILENT_MS = 30_000;
/** An answer that takes longer counts as none. */
const ASK_MS = 1_000;
const MAX_CHAIN = 64;

/**
 * Finds the nodes whose head is on a branch of the minority. Of two nodes none is one. A node is asked only about heads
 * that do not follow from the parents of the heads that it told.
 */
export function createHeadVotes<U extends Upstream>(parts: VoteParts<U>) {
  const { nodes, onBranchLeft } = parts;
  const { clock } = parts.context;
  const ballots = new Map<U, Ballot<U>>();
  /** The chains of higher heads that nodes told before. */
  const left = new Map<U, Ballot<U>['chain']>();
  const { isAnyOut, isOut, putOut, takeBack } = createOuts(parts);

  const learn = async (upper: Ballot<U>, lower: readonly Ballot<U>[]): Promise<void> => {
    const { chain, head, live, node } = upper;
    const numbers = lower.flatMap(({ head: { number } }) =>
      number <= head.number && !chain.has(number) ? number : [],
    );
    if (!live || numbers.length === 0) return;
    const wanted = [...new Set(numbers)];
    const hashes = await inTime(parts.ask(node, wanted).catch(() => []));
    for (const [at, number] of wanted.entries()) chain.set(number, hashes?.[at]?.toLowerCase() ?? null);
  };

  const judgeOnce = async (): Promise<void> => {
    const able = nodes.filter(mayVote);
    if (able.length < 3 && !isAnyOut()) return;
    const since = clock.elapsed() - SILENT_MS;
    const all = [...ballots.values()].filter((one) => mayVote(one.node) && (one.live || one.at >= since));
    const heads = all.map(({ head }) => head.number).sort((a, b) => b - a);
    // One that synchronises is on every branch.
    const lowest = (heads[heads.length >> 1] ?? 0) - SYNCING_BLOCKS;
    const voters = all.filter(({ head }) => head.number >= lowest);
    await Promise.all(voters.map((upper) => learn(upper, voters)));
    const { findWinner, isConfirmed } = count(voters, isOut);
    for (const one of voters) {
      const winner = findWinner(one);
      if (winner !== null) await putOut(one, winner);
    }
    for (const one of voters) {
      if (isOut(one.node) && findWinner(one) === null && isConfirmed(one)) takeBack(one);
    }
    for (const one of voters) {
      const chain = left.get(one.node);
      left.delete(one.node);
      if (chain !== undefined && !isOut(one.node) && isElsewhere(chain)) onBranchLeft?.(one.node, one.head);
    }
  };
  /** Whether all that count have other blocks from one on: one that just lags has the same. */
  const isElsewhere = (chain: Ballot<U>['chain']): boolean => {
    let [same, other] = [-1, Number.POSITIVE_INFINITY];
    for (const one of ballots.values()) {
      if (isOut(one.node)) continue;
      for (const [number, hash] of chain) {
        const known = one.chain.get(number) ?? null;
        if (known === null || hash === null) continue;
        if (known === hash) same = Math.max(same, number);
        else other = Math.min(other, number);
      }
    }
    return other < Number.POSITIVE_INFINITY && same < other;
  };

  return {
    /** Notes the head that a node answered when it was polled; null: nothing. */
    heard(node: U, answer: BlockHeader | null): void {
      const before = ballots.get(node);
      if (answer === null) {
        if (before !== undefined) before.live = false;
        return;
      }
      const { number } = answer;
      const [hash, parentHash] = [answer.hash.toLowerCase(), answer.parentHash.toLowerCase()];
      const head = { number, hash, parentHash };
      const grew = before !== undefined && (before.head.hash === hash || before.head.hash === parentHash);
      const chain: Ballot<U>['chain'] = grew ? before.chain : new Map();
      if (before !== undefined && number < before.head.number) left.set(node, before.chain);
      // What was asked for in vain may be answered by now.
      for (const [old, known] of chain) if (known === null || chain.size > MAX_CHAIN) chain.delete(old);
      chain.set(number, hash).set(number - 1, parentHash);
      ballots.set(node, { node, head, chain, live: true, at: clock.elapsed() });
    },
    /** Compares the nodes; resolves when all that was heard before the call was compared. Never rejects. */
    judge: oneAtATime(judgeOnce),
    isOut,
  };
}

/** Creates the list of the nodes that are out. */
function createOuts<U extends Upstream>(parts: VoteParts<U>) {
  const { context, network, nodes, onChange, onFinding } = parts;
  const { clock, logger } = context;
  /** Since when, why, and whether that was reported. */
  const outs = new Map<U, { since: number; reason: string; told: boolean }>();

  const putOut = async (one: Ballot<U>, winner: Ballot<U>): Promise<void> => {
    const { head, node } = one;
    const known = outs.get(node);
    const out = known ?? { since: clock.elapsed(), reason: explain(one, winner), told: false };
    const { reason } = out;
    const facts = { network, upstream: node.name, head: head.number, reason };
    const wasFinal = known === undefined && (await differsInFinal(one, winner));
    outs.set(node, out);
    if (known === undefined) {
      logger.debug(facts, 'upstream is on another branch than most others: left out');
      onChange?.(node, reason, head);
    }
    // Most branches end within seconds, as they should. Its final block may have told already.
    const isOld = wasFinal || clock.elapsed() - out.since >= SILENT_MS;
    if (out.told || !isOld || (node.leftOut ?? reason) !== reason) return;
    out.told = true;
    logger.warn(facts, 'upstream stays on another branch than most others: left out');
    onFinding?.({ kind: 'minority', upstream: node.name, reason });
  };
  /** Whether it told another block to be final, which no other did: what was said of it is kept. */
  const differsInFinal = async ({ node }: Ballot<U>, winner: Ballot<U>): Promise<boolean> => {
    const { finalized } = node;
    if (finalized === null || nodes.some((other) => other !== node && (other.finalized ?? -1) >= finalized)) {
      return false;
    }
    const [own, others] = await Promise.all(
      [node, winner.node].map((each) => inTime(parts.ask(each, [finalized]).catch(() => []))),
    );
    return own?.[0] == null || own[0].toLowerCase() !== others?.[0]?.toLowerCase();
  };
  const takeBack = (one: Ballot<U>): void => {
    const facts = { network, upstream: one.node.name, head: one.head.number };
    if (outs.get(one.node)?.told === true)
      logger.info(facts, 'upstream is on the branch of the others again');
    outs.delete(one.node);
    onChange?.(one.node, null, one.head);
  };

  return {
    isAnyOut: (): boolean => outs.size > 0,
    isOut: (node: U): boolean => outs.has(node),
    putOut,
    takeBack,
  };
}

function explain<U extends Upstream>(one: Ballot<U>, winner: Ballot<U>): string {
  const at = Math.min(one.head.number, winner.head.number);
  return `its block ${at} is ${one.chain.get(at)}, that of ${winner.node.name} and more nodes is ${winner.chain.get(at)}`;
}

/** Counts who is on whose chain. */
function count<U>(voters: readonly Ballot<U>[], isOut: (node: U) => boolean) {
  /** Whether one is on the other's chain; null: unknown. */
  const agree = (a: Ballot<U>, b: Ballot<U>): boolean | null => {
    const [upper, lower] = a.head.number >= b.head.number ? [a, b] : [b, a];
    const hash = upper.chain.get(lower.head.number) ?? null;
    return hash === null ? null : hash === lower.head.hash;
  };
  const followers = new Map(
    voters.map((top) => {
      const those = voters.filter((one) => one.head.number <= top.head.number && agree(top, one) === true);
      return [top, { votes: those.length, heard: those.some(({ live }) => live) }];
    }),
  );
  const votesOf = (one: Ballot<U>): number => followers.get(one)?.votes ?? 0;
  const support = (one: Ballot<U>): number =>
    Math.max(
      ...voters.filter((top) => top.head.number >= one.head.number && agree(top, one) === true).map(votesOf),
      0,
    );
  const others = (one: Ballot<U>): Ballot<U>[] => voters.filter((other) => agree(one, other) === false);
  return {
    /** The head on another branch that more nodes follow; null: none. Those that answer no more put nobody out alone. */
    findWinner: (one: Ballot<U>): Ballot<U> | null =>
      others(one)
        .filter((other) => followers.get(other)?.heard === true && votesOf(other) > support(one))
        .sort((a, b) => votesOf(b) - votesOf(a))[0] ?? null,
    /** Whether it is on a chain with one that is not out, or more follow its branch than any other. */
    isConfirmed: (one: Ballot<U>): boolean =>
      voters.some(
        (other) => other !== one && other.live && !isOut(other.node) && agree(one, other) === true,
      ) ||
      (support(one) > 1 && others(one).every((other) => votesOf(other) < support(one))),
  };
}

async function inTime<T>(asking: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ASK_MS);
  });
  return Promise.race([asking, late]).finally(() => clearTimeout(timer));
}
