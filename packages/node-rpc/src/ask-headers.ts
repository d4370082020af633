import { readHeader } from './ask-head.js';
import type { BlockHeader } from './block-source.js';
import type { Call } from './call.js';
import type { Fault } from './upstream/fault.js';
import type { CallContext, UpstreamNode } from './upstream-node.js';

/** Asks for the block of this number without its transactions themselves, so that many such calls fit into a request. */
export const headerCall = (number: number): Call => ({
  method: 'eth_getBlockByNumber',
  params: [`0x${number.toString(16)}`, false],
  block: number,
  weight: 1,
  learnedAs: 'head',
  oversize: 'assemble',
});

/**
 * The headers that one upstream has under these numbers, in their order; null where it has none. Rejects only
 * when aborted.
 */
export async function askHeaders(
  node: UpstreamNode,
  numbers: readonly number[],
  context: CallContext,
): Promise<(BlockHeader | null)[] | Fault> {
  const answers = await node.callAll(numbers.map(headerCall), context);
  const headers: (BlockHeader | null)[] = [];
  for (const [index, answer] of answers.entries()) {
    if (!answer.ok) return answer.fault;
    const header = readHeader(answer.value);
    headers.push(header !== null && header.number === numbers[index] ? header : null);
  }
  return headers;
}
