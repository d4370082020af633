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
