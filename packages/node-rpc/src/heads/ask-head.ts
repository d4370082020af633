import type { Call } from '../calls/call.js';
import type { CallContext, UpstreamNode } from '../calls/node.js';
import { type Fault, makeFault } from '../upstream/fault.js';

/** A block without its contents. */
export interface BlockHeader {
  number: number;
  hash: string;
  parentHash: string;
}

/** A block that the chain must have: it is final, or published. */
export interface BlockAnchor {
  number: number;
  hash: string;
}

/** The newest block of one upstream and, if known, the newest final one. */
export interface NodeHead {
  number: number;
  hash: string;
  parentHash: string;
  /** By the `finalized` tag; null if it was not asked for or not answered. */
  finalized: { number: number; hash: string } | null;
}

const tagged = (tag: string): Call => ({
  method: 'eth_getBlockByNumber',
  params: [tag, false],
  weight: 1,
  learnedAs: 'head',
  oversize: 'assemble',
});

/** Asks for the newest block, and in the same request for the newest final one. Rejects only when aborted. */
export async function askHead(
  node: UpstreamNode,
  withFinalized: boolean,
  context: CallContext,
): Promise<NodeHead | Fault> {
  const askTag = withFinalized && node.capabilities.finalizedTag !== false;
  const [latest, final] = await node.callAll(
    askTag ? [tagged('latest'), tagged('finalized')] : [tagged('latest')],
    context,
  );
  if (latest === undefined || !latest.ok) return latest?.fault as Fault;
  const head = readHeader(latest.value);
  if (head === null) {
    const asked = { label: node.label, what: 'eth_getBlockByNumber for the latest block' };
    const happened = latest.value === null ? 'answered null' : 'answered with something that is no block';
    return makeFault(
      asked,
      latest.value === null ? 'NODE_ANSWER_MISSING' : 'NODE_ANSWER_INVALID',
      happened,
      'elsewhere',
    );
  }
  node.head = Math.max(node.head ?? 0, head.number);
  if (final === undefined) return { ...head, finalized: null };
  if (!final.ok) {
    // Only a refusal of the tag itself is permanent; a young chain has nothing final yet.
    if (final.fault.refusesParams) node.capabilities.finalizedTag = false;
    return { ...head, finalized: null };
  }
  const finalized = readHeader(final.value);
  if (finalized !== null) node.capabilities.finalizedTag = true;
  return { ...head, finalized };
}

/** The number and hashes of a block; null if the value is none. */
function readHeader(value: unknown): BlockHeader | null {
  if (typeof value !== 'object' || value === null) return null;
  const { hash, number, parentHash } = value as Record<string, unknown>;
  if (typeof hash !== 'string' || typeof parentHash !== 'string' || typeof number !== 'string') return null;
  const parsed = Number(number);
  return Number.isSafeInteger(parsed) && parsed >= 0 ? { number: parsed, hash, parentHash } : null;
}

/** Asks for the block of this number with transaction hashes only, so that many such calls fit into a request. */
export const headerCall = (number: number): Call => ({
  method: 'eth_getBlockByNumber',
  params: [`0x${number.toString(16)}`, false],
  block: number,
  weight: 1,
  learnedAs: 'head',
  oversize: 'assemble',
});

/**
 * One upstream's headers of these numbers, in their order; null for each that it does not have. Rejects only when
 * aborted.
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
