import type { Network } from '@packhouse/networks';
import type { PackhouseError } from '@packhouse/runtime';
import type { Answer, Call } from './call.js';
import type { NodeLabel } from './node-label.js';
import { type Fault, makeFault } from './upstream/fault.js';
import type { CallContext, UpstreamNode } from './upstream-node.js';

export const CHAIN_ID_CALL: Call = { method: 'eth_chainId', params: [], weight: 1, learnedAs: 'chain id' };
const CLIENT_LENGTH = 128;

/** What is wrong with an answer to eth_chainId, or null where it is the network's. */
export function checkChainId(label: NodeLabel, network: Network, answer: Answer): Fault | null {
  if (!answer.ok) return answer.fault;
  const asked = { label, what: 'eth_chainId' };
  const chainId = typeof answer.value === 'string' ? Number(answer.value) : Number.NaN;
  if (!Number.isSafeInteger(chainId)) {
    const got = label.quote(JSON.stringify(answer.value) ?? '');
    return makeFault(asked, 'NODE_ANSWER_INVALID', `answered ${got}, which is no chain id,`, 'elsewhere');
  }
  if (chainId === network.chainId) return null;
  const happened = `serves chain ${chainId} and not ${network.chainId}, as it says`;
  return makeFault(asked, 'NODE_WRONG_CHAIN', happened, 'elsewhere', {
    hint: `Give the address of a node of ${network.id}, or correct the chain id.`,
    data: { expected: network.chainId, got: chainId },
  });
}

/** The error that keeps a node from being asked at all, if this fault is one. */
export function exclusion(fault: Fault): PackhouseError | null {
  return fault.error.code === 'NODE_WRONG_CHAIN' ? fault.error : null;
}

/** Notes what the upstream calls itself: one line of at most 128 printable characters. Rejects only when aborted. */
export async function askClient(node: UpstreamNode, context: CallContext): Promise<void> {
  const [answer] = await node.callAll(
    [{ method: 'web3_clientVersion', params: [], weight: 1, learnedAs: 'client' }],
    context,
  );
  if (answer?.ok !== true || typeof answer.value !== 'string') return;
  const text = node.label
    .quote(answer.value.slice(0, 4 * CLIENT_LENGTH))
    .replace(/[^\x21-\x7e]+/g, ' ')
    .slice(0, CLIENT_LENGTH)
    .trim();
  node.client = text === '' ? null : text;
}
