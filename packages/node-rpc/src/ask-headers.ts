import { readHeader } from './ask-head.js';
import type { BlockHeader } from './block-source.js';
import type { Fault } from './fault.js';
import type { CallContext, UpstreamNode } from './upstream-node.js';

/**
 * The headers that one upstream has under these numbers, in their order; null where it has none. Answers without
 * transactions, so that many fit into a request. Rejects only when aborted.
 */
export async function askHeaders(
  node: UpstreamNode,
  numbers: readonly number[],
  context: CallContext,
): Promise<(BlockHeader | null)[] | Fault> {
  const answers = await node.callAll(
    numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, false],
      block: number,
      weight: 1,
      learnedAs: 'head',
      oversize: 'assemble',
    })),
    context,
  );
  const headers: (BlockHeader | null)[] = [];
  for (const [index, answer] of answers.entries()) {
    if (!answer.ok) return answer.fault;
    const header = readHeader(answer.value);
    headers.push(header !== null && header.number === numbers[index] ? header : null);
  }
  return headers;
}
