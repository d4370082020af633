import { failure } from '../rpc/answer-call.js';
import { askWhole } from '../rpc/ask-whole.js';
import type { RpcVisit } from '../rpc/method.js';
import { NodeSaid } from '../rpc/node-said.js';
import { fewAtATime } from './few-at-a-time.js';

/** What links a block to the one before. */
export interface BlockLink {
  number: number;
  hash: string;
  parentHash: string;
}

/**
 * The link of a block by its number or a tag; null where there is none. Nodes that are not as far as `head`, by default
 * as the others, are asked last: one that was left on a dead branch has other blocks. Throws problems and NodeSaid.
 */
export async function linkAt(
  visit: RpcVisit,
  block: number | 'latest' | 'safe' | 'finalized',
  head = visit.at.forwarder.head(),
): Promise<BlockLink | null> {
  const at = typeof block === 'number' ? `0x${block.toString(16)}` : block;
  const answer = await askWhole(visit, {
    method: 'eth_getBlockByNumber',
    params: JSON.stringify([at, false]),
    ...(head === null ? {} : { block: head }),
  });
  if (answer.kind === 'error') throw new NodeSaid(answer.error);
  const said = JSON.parse(answer.text) as { number?: unknown; hash?: unknown; parentHash?: unknown } | null;
  if (said === null) return null;
  const { number, hash, parentHash } = said;
  if (typeof number !== 'string' || typeof hash !== 'string' || typeof parentHash !== 'string') {
    throw failure({ reason: 'nonsense', detail: 'a node sent a block that is none' });
  }
  return { number: Number(number), hash, parentHash };
}

/** Links of `from` to `to`, ascending; null where they are not there or do not hang together: the chain moves. */
export async function linksOf(
  visit: RpcVisit,
  { from, to, head }: { from: number; to: number; head: number },
): Promise<BlockLink[] | null> {
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);
  const links = await fewAtATime(numbers, (number) => linkAt(visit, number, head));
  const linked = links.every(
    (link, i) => link !== null && (i === 0 || link.parentHash === links[i - 1]?.hash),
  );
  return linked ? (links as BlockLink[]) : null;
}
