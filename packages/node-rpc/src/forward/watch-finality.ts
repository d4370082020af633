import type { Network } from '@packhouse/networks';
import { askAside } from './ask-aside.js';
import type { ForwardNode } from './forward-node.js';
import { FINALIZED_QUESTION } from './head-question.js';

/** Codes by which nodes refuse a parameter or a method; the sentence decides where the code means many things. */
const REFUSES = new Set([-32602, -32601, -32600, -32004, -39001]);
const SAYS_UNKNOWN = /unknown|invalid|not (found|supported|available)|unsupported|unrecogni[sz]ed/i;

/**
 * Keeps `finalized` of the nodes of one network, called after each look at a head (null: there was none). What a node
 * says by the tag counts. The depth counts where the tag is not to be used, and for a node that says it has none: but
 * only once all others were asked, and never above what one of them says. A question that failed changes nothing, since
 * answers about final blocks are kept for good.
 */
export function createFinalityWatch(
  network: Network,
  nodes: readonly ForwardNode[],
): (node: ForwardNode, head: number | null, signal: AbortSignal) => Promise<void> {
  const { depth, tag } = network.finality;
  /** What the nodes that know the tag said last. */
  const told = new Map<ForwardNode, number>();
  const unasked = new Set(nodes);

  return async (node, head, signal) => {
    if (head === null) {
      unasked.delete(node);
      return;
    }
    const byDepth = Math.max(0, head - depth);
    if (!tag) {
      node.finalized = byDepth;
      return;
    }
    const said = await askAside(node, FINALIZED_QUESTION, signal);
    unasked.delete(node);
    if (said === null) return;
    const number = said.kind === 'result' ? FINALIZED_QUESTION.read(said.value) : null;
    if (number !== null) {
      told.set(node, number);
      node.finalized = number;
      return;
    }
    const unknown =
      said.kind === 'result'
        ? said.value === null
        : REFUSES.has(said.code) || (said.code === -32000 && SAYS_UNKNOWN.test(said.message));
    if (!unknown || told.has(node) || unasked.size > 0) return;
    const others = [...told].flatMap(([other, final]) => (other.excluded ? [] : final));
    node.finalized = Math.min(byDepth, others.length === 0 ? byDepth : Math.max(...others));
  };
}
