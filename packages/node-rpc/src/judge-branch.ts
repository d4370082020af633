import type { Clock } from '@packhouse/runtime';
import type { NodeHead } from './ask-head.js';
import { askHeaders } from './ask-headers.js';
import type { BlockAnchor } from './block-source.js';
import type { Fault } from './upstream/fault.js';
import type { CallContext, UpstreamNode } from './upstream-node.js';

/** What is known of the branch that an upstream follows. */
export type Branch =
  /** It has the anchor. */
  | { is: 'on' }
  /** It is not as far as the anchor yet. */
  | { is: 'behind' }
  /** It has another block in the anchor's place. */
  | { is: 'off'; got: string }
  /** It did not say. */
  | { is: 'unknown'; fault: Fault | null };

/** A branch that was on the anchor and only grew since is not asked about for this long. */
const TRUST_MS = 30_000;

/** Asks an upstream whether its chain has the anchor, where its head does not follow from what is known already. */
export async function judgeBranch(
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
  if (grew && clock.now() - confirmed.at < TRUST_MS) {
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
  node.confirmed = got === anchor.hash ? { hash: head.hash, at: clock.now() } : null;
  return got === anchor.hash ? { is: 'on' } : { is: 'off', got };
}
