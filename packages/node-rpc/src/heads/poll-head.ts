import { toQuantity } from '@packhouse/chain';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { Call, CallContext } from '../calls/call.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import { chooseNode } from './choose-node.js';

/** A block without its contents. */
export interface BlockHeader {
  number: number;
  hash: string;
  parentHash: string;
}

/** A block that the chain must have: it is final, or published. */
export type BlockAnchor = Pick<BlockHeader, 'number' | 'hash'>;

/** The newest block of one upstream and, if known, the newest final one. */
export interface NodeHead extends BlockHeader {
  /** By the `finalized` tag; null if it was not asked for or not answered. */
  finalized: BlockAnchor | null;
}

/** Asks for a block with transaction hashes only, so that many such calls fit into a request. */
const getBlock = (block: string): Call => ({
  method: 'eth_getBlockByNumber',
  params: [block, false],
  weight: 1,
  learnedAs: 'head',
  oversize: 'assemble',
});

/**
 * Asks for the newest block, and in the same request for the newest final one if that is `asked` for and not `known`.
 * Rejects only when aborted.
 */
export async function pollHead(
  node: BatchUpstream,
  { asked, known }: { asked: boolean; known?: BlockAnchor | null | undefined },
  context: CallContext,
): Promise<NodeHead | Fault> {
  const sentAt = performance.now();
  const askTag = asked && !known && node.capabilities.finalizedTag !== false;
  const [latest, final] = await node.callAll(
    askTag ? [getBlock('latest'), getBlock('finalized')] : [getBlock('latest')],
    context,
  );
  if (latest === undefined || !latest.ok) return latest?.fault as Fault;
  const head = readHeader(latest.value);
  if (head === null) {
    const subject = { label: node.label, what: 'eth_getBlockByNumber for the latest block' };
    return latest.value === null
      ? makeFault(subject, 'NODE_ANSWER_MISSING', 'answered null', 'elsewhere')
      : makeFault(subject, 'NODE_ANSWER_INVALID', 'answered with something that is no block', 'elsewhere');
  }
  node.sawHead(Math.max(node.head ?? 0, head.number), sentAt, head.hash);
  if (final === undefined) return { ...head, finalized: known ?? null };
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
export function readHeader(value: unknown): BlockHeader | null {
  if (typeof value !== 'object' || value === null) return null;
  const { hash, number, parentHash } = value as Record<string, unknown>;
  if (typeof hash !== 'string' || typeof parentHash !== 'string' || typeof number !== 'string') return null;
  const parsed = Number(number);
  return Number.isSafeInteger(parsed) && parsed >= 0 ? { number: parsed, hash, parentHash } : null;
}

export const buildHeaderCall = (number: number): Call => ({
  ...getBlock(toQuantity(number)),
  block: number,
});

/**
 * One upstream's headers of these numbers, in their order; null for each that it does not have. Rejects only when
 * aborted.
 */
export async function fetchHeaders(
  node: BatchUpstream,
  numbers: readonly number[],
  context: CallContext,
): Promise<(BlockHeader | null)[] | Fault> {
  const answers = await node.callAll(numbers.map(buildHeaderCall), context);
  const headers: (BlockHeader | null)[] = [];
  for (const [index, answer] of answers.entries()) {
    if (!answer.ok) return answer.fault;
    const header = readHeader(answer.value);
    headers.push(header !== null && header.number === numbers[index] ? header : null);
  }
  return headers;
}

const NO_DATA = { receipts: false, traces: false };
const NONE: ReadonlySet<string> = new Set();

/**
 * The headers with these numbers, all from one upstream: `from` if it can be asked, else any that has them; null for each
 * that none has. If no upstream answers, the last error, or null if none can be asked.
 */
export async function findHeaders(
  nodes: readonly BatchUpstream[],
  numbers: readonly number[],
  from: string | undefined,
  context: CallContext,
): Promise<(BlockHeader | null)[] | Error | null> {
  const block = Math.max(...numbers);
  const exhausted = new Set<string>();
  let error: Error | null = null;
  let incomplete: (BlockHeader | null)[] | null = null;
  for (;;) {
    const named = nodes.find((node) => node.name === from && !node.excluded && !exhausted.has(node.name));
    const node = named ?? chooseNode(nodes, { block, request: NO_DATA, avoid: NONE, exhausted });
    if (node === null) return incomplete ?? error;
    exhausted.add(node.name);
    const found = await fetchHeaders(node, numbers, context);
    if (isFault(found)) error = found.error;
    else if (found.every((header) => header !== null)) return found;
    else incomplete ??= found;
  }
}
