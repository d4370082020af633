import type { Upstream } from '../upstream/upstream.js';

/** A block that a node holds to be final; its hash is null if the node did not tell it. */
export interface FinalBlock {
  number: number;
  hash: string | null;
}

/** What is known of one node. */
export interface Member {
  /** `pending`: it was not asked yet. `silent`: it did not answer the last time. */
  state: 'pending' | 'live' | 'silent';
  final: FinalBlock | null;
  head: number;
  /** Hashes that it told, by number. */
  told: Map<number, string>;
  /** The last heights that it was asked about without an answer so far. */
  mute: Set<number>;
  /** Heights that it is asked about once more, since the nodes differ there and it was polled since. */
  again: Set<number>;
  /** The height at which it was left out. */
  lostAt: number;
}

/** A node whose final block is further below the highest one synchronises: the others are compared without it as well. */
export const SYNCING_BLOCKS = 1_000;
/** A final block further below an earlier one of the same node is of another chain. */
const RESET_BLOCKS = 64;
/** A head further above all others is believed only if its chain contains the highest of theirs. */
export const FAR_AHEAD_BLOCKS = 64;
/** Hashes that are kept of each node: the genesis, and those of the last heights. */
const MAX_TOLD = 16;
/** Nodes are waited for this long once more than half of them agree, and this long if not: the others count as silent. */
const AGREED_MS = 1_000;
const LATE_MS = 5_000;

/** Creates the memory of which final blocks each node of a pool told. */
export function createFinalVotes<U extends Upstream>({
  ask,
  nodes,
  onChanged,
}: {
  nodes: readonly U[];
  /** Asks a node for the hash of a block; null: it did not tell one. */
  ask(node: U, number: number): Promise<string | null>;
  /** A node told another hash than before. */
  onChanged(node: U, reason: string): void;
}) {
  const members = new Map<U, Member>();
  for (const node of nodes) {
    members.set(node, {
      state: 'pending',
      final: null,
      head: -1,
      told: new Map(),
      mute: new Set(),
      again: new Set(),
      lostAt: 0,
    });
  }
  const learn = (node: U, number: number, hash: string): void => {
    const { told } = members.get(node) as Member;
    const before = told.get(number);
    if (before !== undefined && before !== hash) {
      // What it told before is of another chain.
      told.clear();
      const reason = `it had ${before} as its final block ${number}, and now has ${hash}`;
      onChanged(node, reason);
    }
    told.delete(number);
    told.set(number, hash);
    for (const old of told.keys()) if (told.size > MAX_TOLD && old !== 0) told.delete(old);
  };

  /** Where the nodes differ: they are asked again, since each may be on another branch by now. */
  let differing: readonly number[] = [];
  /** The hash of a node at a height: as it told, or asked for now, at most once while the nodes agree. */
  const getHash = async (node: U, number: number): Promise<string | null> => {
    const { again, mute, told } = members.get(node) as Member;
    const known = told.get(number);
    if (known !== undefined && !again.delete(number)) return known;
    if (mute.has(number) || number === 0) return known ?? null;
    mute.add(number);
    for (const old of mute) if (mute.size > MAX_TOLD) mute.delete(old);
    const hash = (await ask(node, number).catch(() => null))?.toLowerCase() ?? null;
    if (hash === null) return known ?? null;
    mute.delete(number);
    learn(node, number, hash);
    return hash;
  };

  /** The hashes of the nodes that answer in time, at a height. */
  const collect = async (height: number): Promise<Map<U, string>> => {
    const able = [...members].flatMap(([node, { head, state }]) =>
      state === 'live' && mayVote(node) && head >= height ? node : [],
    );
    return able.length < 2 ? new Map() : collectInTime(able, (node) => getHash(node, height));
  };

  return {
    members,
    learn,
    collect,
    getHeights: () => getCommonHeights(members.values()),
    differAt(heights: readonly number[]): void {
      differing = heights;
    },
    /** Notes what a node answered when it was polled; null: nothing. */
    heard(node: U, answer: { head: number; final: FinalBlock | null } | null): void {
      const member = members.get(node) as Member;
      member.state = answer === null ? 'silent' : 'live';
      if (answer === null) return;
      member.again = new Set(differing);
      const { hash = null, number = member.final?.number ?? -1 } = answer.final ?? {};
      member.head = Math.max(answer.head, answer.final?.number ?? -1);
      // A chain that was reset, or another one at this address.
      if (number < (member.final?.number ?? 0) - RESET_BLOCKS) node.chainDoubtful = true;
      member.final = answer.final ?? member.final;
      if (hash !== null) learn(node, number, hash.toLowerCase());
    },
  };
}

/** The hashes that are told in time, in the order of the nodes. */
async function collectInTime<U extends Voter>(
  able: readonly U[],
  getHash: (node: U) => Promise<string | null>,
): Promise<Map<U, string>> {
  const hashes = new Map<U, string>();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    const resolveAfter = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(resolve, ms);
    };
    resolveAfter(LATE_MS);
    let agreed = false;
    const all = able.map(async (node) => {
      const hash = await getHash(node);
      if (hash === null) return;
      hashes.set(node, hash);
      if (agreed || !groupByHash(hashes).some((group) => group.nodes.length * 2 > able.length)) return;
      agreed = true;
      resolveAfter(AGREED_MS);
    });
    void Promise.all(all).then(() => resolve());
  });
  clearTimeout(timer);
  // Without what comes later.
  return new Map(able.flatMap((node) => (hashes.has(node) ? [[node, hashes.get(node) as string]] : [])));
}

/** One of another chain has no vote, nor one that an operator took out, or that lacks a block known to be final. */
export function mayVote({ exclusion, offChain }: Upstream): boolean {
  return exclusion === null && !offChain;
}

/** The heights at which nodes are compared: the genesis, the lowest final block, and the lowest of those not far behind. */
function getCommonHeights(members: Iterable<Member>): number[] {
  const finals = [...members].flatMap(({ final, state }) =>
    state === 'live' && final !== null ? final.number : [],
  );
  if (finals.length === 0) return [0];
  const highest = Math.max(...finals);
  const near = finals.filter((number) => number >= highest - SYNCING_BLOCKS);
  return [...new Set([0, Math.min(...finals), Math.min(...near)])];
}

/** A silent node counts for those that agreed with it where the others did not. */
export function addSilent<U extends Upstream>(
  members: ReadonlyMap<U, Member>,
  groups: readonly Group<U>[],
): void {
  for (const [node, { state, told }] of members) {
    if (state !== 'silent' || !mayVote(node)) continue;
    const agrees = (one: U, number: number, hash: string): boolean =>
      members.get(one)?.told.get(number) === hash;
    const differs = (one: U, number: number, hash: string): boolean =>
      (members.get(one)?.told.get(number) ?? hash) !== hash;
    const own = groups.find((group) =>
      [...told].some(
        ([number, hash]) =>
          group.nodes.some((one) => agrees(one, number, hash)) &&
          groups.some((other) => other !== group && other.nodes.some((one) => differs(one, number, hash))),
      ),
    );
    if (own !== undefined) own.weight += 1;
  }
}

/** The highest block about which all of these agreed. */
export function getAgreed<U>(members: ReadonlyMap<U, Member>, of: readonly U[]): number {
  const [first, ...rest] = of.map((node) => members.get(node) as Member);
  const common = [...(first?.told ?? [])].filter(([number, hash]) =>
    rest.every(({ told }) => told.get(number) === hash),
  );
  return Math.max(-1, ...common.map(([number]) => number));
}

/** What a vote needs of a node. */
interface Voter {
  readonly name: string;
  /** Why it is left out already. */
  readonly leftOut: string | null;
}

/** Nodes that have the same block at a height. */
export interface Group<U> {
  hash: string;
  nodes: U[];
  /** How many nodes it stands for. */
  weight: number;
}

/** The nodes by their hash, each with the weight of one. */
export function groupByHash<U>(votes: ReadonlyMap<U, string>): Group<U>[] {
  const groups = new Map<string, Group<U>>();
  for (const [node, hash] of votes) {
    const group = groups.get(hash) ?? { hash, nodes: [], weight: 0 };
    group.nodes.push(node);
    group.weight += 1;
    groups.set(hash, group);
  }
  return [...groups.values()];
}

/**
 * The group that stands for the most nodes; null if there is none, or a tie. What was decided before holds in a tie: nodes
 * that are left out do not come back when another one goes away.
 */
export function heaviest<U extends Voter>(groups: readonly Group<U>[]): Group<U> | null {
  const most = Math.max(0, ...groups.map(({ weight }) => weight));
  const top = groups.filter(({ weight }) => weight === most);
  const trusted = top.filter(({ nodes }) => nodes.some(({ leftOut }) => leftOut === null));
  const [best] = top.length === 1 ? top : trusted.length === 1 ? trusted : [];
  return best ?? null;
}

/** `a, b and c`. */
export function listNames(nodes: readonly { readonly name: string }[]): string {
  const names = nodes.map(({ name }) => name);
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** `block 9 is 0x… by a and b, 0x… by c`. */
export function describeGroups(groups: readonly Group<Voter>[], height: number): string {
  return `block ${height} is ${groups.map(({ hash, nodes }) => `${hash} by ${listNames(nodes)}`).join(', ')}`;
}
