import type { Clock } from '@packhouse/runtime';

/** The lowest head that can answer: a block number, or `tip`, the newest block that this process knows of. */
export type NeededHead = number | 'tip';

/** What is known of an upstream's head. */
interface KnownHead {
  readonly head: number | null;
  /** When it was last heard, in the clock's milliseconds. */
  readonly headAt: number;
  /** It is on another chain. */
  readonly excluded: boolean;
}

/** A head that was not heard again for this long does not count while newer ones do. */
const AWAY_MS = 30_000;

/**
 * The highest head of the upstreams on this chain; null while none is known. An upstream that does not answer keeps its
 * head for AWAY_MS, so the tip goes back only after that, or if no upstream reports it any more: a reorganisation or a
 * reset.
 */
export function tipOf(nodes: readonly KnownHead[], clock: Pick<Clock, 'elapsed'>): number | null {
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
export function headNeeded(block: NeededHead | undefined, tip: number | null): number | null {
  if (block === undefined || tip === null) return null;
  return block === 'tip' ? tip : Math.min(block, tip);
}

/** Whether an upstream may be asked; one with an unknown head may not, since another's is known if `needed` is. */
export function isEligible({ excluded, head }: Omit<KnownHead, 'headAt'>, needed: number | null): boolean {
  return !excluded && (needed === null || (head !== null && head >= needed));
}

/** Why the upstreams that were not asked, beside those that were `asked`, could not answer; undefined if there are none. */
export function whyNotAsked(
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
