import type { Network } from '@packhouse/networks';
import { type Context, PackhouseError } from '@packhouse/runtime';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext } from '../calls/call.js';
import { type FetchRequest, offers } from '../heads/choose-node.js';
import { buildHeaderCall, pollHead } from '../heads/poll-head.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import { closeStream } from './lazy-block.js';
import { type ReadBlock, readBlock } from './read-block.js';
import { fetchReceipts } from './read-receipts.js';
import { fetchTraces } from './read-traces.js';

/** Blocks behind the head: such a block has its receipts and traces, and is not pruned yet. */
const BEHIND_HEAD = 3;
/** How many blocks are searched for one with transactions, which shows more. */
const LOOK_BACK = 8;
/** An upstream that was just started may need a moment. */
const TRIES = 3;
const BACK_OFF_MS = 200;

/**
 * Asks every upstream for its chain id, its head and, on a recent block, for what `request` needs.
 *
 * Throws NODE_WRONG_CHAIN, NODE_METHOD_MISSING, or the error of the first upstream if none can be used.
 */
export async function probeNodes(
  nodes: readonly BatchUpstream[],
  network: Network,
  request: FetchRequest,
  context: Context,
  callContext: CallContext,
): Promise<void> {
  const faults = await Promise.all(
    nodes.map(async (node) => {
      const fault = await probeNode(node, network, request, context, callContext);
      const facts = { network: network.id, upstream: node.name, err: fault?.error };
      if (fault !== null) context.logger.warn(facts, 'upstream unusable');
      return fault;
    }),
  );
  if (faults.some((fault) => fault === null)) return;
  const errors = faults.map((fault) => (fault as Fault).error);
  // A wrong chain is reported first: it does not go away by itself.
  const wrong = errors.find((error) => error.code === 'NODE_WRONG_CHAIN');
  const first = wrong ?? errors.find((error) => error.code === 'NODE_METHOD_MISSING') ?? errors[0];
  if (first === undefined) {
    throw new PackhouseError({
      code: 'NODE_UNREACHABLE',
      message: `Network ${network.id} has no upstreams.`,
      hint: 'Name one in the networks file, or give --rpc.',
    });
  }
  if (errors.length === 1) throw first;
  throw new PackhouseError({
    code: first.code,
    message: `None of the ${errors.length} upstreams of ${network.id} can be used: ${errors.map((error) => error.message).join(' ')}`,
    hint: first.hint,
    data: { upstreams: nodes.map((node) => node.name) },
    cause: first,
  });
}

async function probeNode(
  node: BatchUpstream,
  network: Network,
  request: FetchRequest,
  context: Context,
  callContext: CallContext,
): Promise<Fault | null> {
  for (let attempt = 1; ; attempt += 1) {
    const fault = await probeOnce(node, network, request, callContext);
    if (fault === null || fault.action === 'elsewhere' || fault.action === 'give-up' || attempt >= TRIES)
      return fault;
    const waitMs = fault.retryAfterMs ?? BACK_OFF_MS * 2 ** (attempt - 1);
    await context.clock.sleep(waitMs, callContext.scope.signal);
  }
}

/** Three round trips: chain id and head; some recent blocks; receipts and traces of one of them. */
async function probeOnce(
  node: BatchUpstream,
  network: Network,
  request: FetchRequest,
  context: CallContext,
): Promise<Fault | null> {
  const [wrong, head] = await Promise.all([
    node.verifyChain(context.scope),
    pollHead(node, { asked: network.finality.tag }, context),
    fetchClientVersion(node, context),
  ]);
  if (wrong !== null) return wrong;
  return 'action' in head ? head : probeMethods(node, head.number, request, context);
}

async function probeMethods(
  node: BatchUpstream,
  head: number,
  request: FetchRequest,
  context: CallContext,
): Promise<Fault | null> {
  if (!request.receipts && !request.traces) return null;
  node.capabilities.receipts.reset();
  node.capabilities.traces.reset();
  const block = await recentBlock(node, head, context);
  if (block === null) return null;
  const [, traces] = await Promise.all([
    request.receipts ? fetchReceipts(node, [block], context) : undefined,
    request.traces ? fetchTraces(node, [block], context) : undefined,
  ]);
  const found = traces?.get(block.number);
  if (found !== undefined && !isFault(found)) closeStream(found.part);
  // Any other failure (a pruned block, a timeout) says nothing about the methods: they are assumed to exist.
  if (offers(node, request)) return null;
  const missing = node.capabilities.receipts.mode === null ? 'receipts' : 'traces';
  const hint =
    missing === 'traces'
      ? 'Enable trace_block or debug_traceBlockByHash on it, use another node, or leave traces out.'
      : 'Enable eth_getBlockReceipts on it, or use another node.';
  const asked = {
    label: node.label,
    what: `for the ${missing} of block ${block.number}`,
    block: block.number,
  };
  const happened = `offers no method that gives ${missing}`;
  return makeFault(asked, 'NODE_METHOD_MISSING', happened, 'elsewhere', { hint });
}

/** A block a little behind the head, with transactions if there is one nearby; null if none is available. */
async function recentBlock(
  node: BatchUpstream,
  head: number,
  context: CallContext,
): Promise<ReadBlock | null> {
  const newest = Math.max(0, head - BEHIND_HEAD);
  const numbers = head < BEHIND_HEAD ? [head] : [];
  for (let number = newest; number > Math.max(-1, newest - LOOK_BACK); number -= 1) {
    if (!numbers.includes(number)) numbers.push(number);
  }
  // All at once, and with transaction hashes only.
  const answers = await node.callAll(numbers.map(buildHeaderCall), context);
  let found: ReadBlock | null = null;
  for (const [index, answer] of answers.entries()) {
    if (!answer.ok) continue;
    const read = readBlock(node, numbers[index] as number, answer, true);
    if (isFault(read)) continue;
    if (read.transactions > 0) return read;
    found ??= read;
  }
  return found;
}

const CLIENT_LENGTH = 128;

/** Notes the client version: one line of at most 128 printable characters. Rejects only when aborted. */
async function fetchClientVersion(node: BatchUpstream, context: CallContext): Promise<void> {
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
