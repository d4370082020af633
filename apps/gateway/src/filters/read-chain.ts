import { failure } from '../rpc/answer-call.js';
import { askWhole } from '../rpc/ask-whole.js';
import type { RpcVisit } from '../rpc/method.js';
import { NodeSaid } from '../rpc/node-said.js';

/** What links a block to the one before. */
export interface BlockLink {
  number: number;
  hash: string;
  parentHash: string;
}

/** The link of a block by its number or a tag; null where there is none. Throws problems and NodeSaid. */
export async function linkAt(visit: RpcVisit, block: number | 'latest'): Promise<BlockLink | null> {
  const at = block === 'latest' ? block : `0x${block.toString(16)}`;
  const answer = await askWhole(visit, {
    method: 'eth_getBlockByNumber',
    params: JSON.stringify([at, false]),
    ...(block === 'latest' ? {} : { block }),
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

/** Blocks asked for at a time. */
const CONCURRENCY = 8;

/** Links of `from` to `to`, ascending; null where they are not there or do not hang together: the chain moves. */
export async function linksOf(visit: RpcVisit, from: number, to: number): Promise<BlockLink[] | null> {
  const links = new Array<BlockLink | null>(Math.max(0, to - from + 1)).fill(null);
  let next = from;
  const work = async (): Promise<void> => {
    for (let mine = next++; mine <= to; mine = next++) links[mine - from] = await linkAt(visit, mine);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, links.length) }, work));
  const linked = links.every(
    (link, i) => link !== null && (i === 0 || link.parentHash === links[i - 1]?.hash),
  );
  return linked ? (links as BlockLink[]) : null;
}
