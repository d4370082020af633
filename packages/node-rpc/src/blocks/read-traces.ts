import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext, GoodAnswer } from '../calls/call.js';
import type { BlockFacts, TraceMode } from '../calls/capabilities.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import { callCapable } from './call-capable.js';
import { flattenCallFrame, lacksGas, toTraceBlock } from './flatten-traces.js';
import type { Part } from './lazy-block.js';
import { checkBlockHash, readList } from './read-receipts.js';

type Traces = Part<unknown[]> | AsyncIterable<unknown>;

/** A block whose traces are read; its hashes are known if they are compared. */
type TracedFacts = Omit<BlockFacts, 'hashes'> & { hashes: readonly string[] };

/** Asks an upstream for the traces of blocks. */
export function fetchTraces(node: BatchUpstream, blocks: readonly BlockFacts[], context: CallContext) {
  return callCapable(node, node.capabilities.traces, blocks, context, (mode, block, [answer]) =>
    readTraces(node, mode, block, answer as GoodAnswer),
  );
}

/** Converts the answer to one trace call, of any tracer, to the shape of trace_block. */
function readTraces(
  node: BatchUpstream,
  mode: TraceMode,
  block: BlockFacts,
  answer: GoodAnswer,
): Traces | Fault | 'refused' {
  const asked = { label: node.label, what: `${mode.name} for block ${block.number}`, block: block.number };
  const hashes = mode.shape === 'trace_block' ? [] : block.hashes();
  // Without them it was not asked.
  if (isFault(hashes)) return hashes;
  const facts = { ...block, hashes };
  if (answer.elements !== undefined) {
    const elements = answer.elements;
    return closingBoth(streamTraces(elements, mode, facts, asked), elements);
  }
  const expected = block.transactions;
  const list = readList(answer);
  if (list !== null && isFault(list)) return list;
  if (list === null ? answer.value === null : list.length < (expected > 0 ? 1 : 0)) {
    const happened = `answered with no traces for ${expected} transactions`;
    return makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'elsewhere', {
      hint: 'It is behind, or it does not keep the state to trace this block.',
    });
  }
  if (list === null) {
    return makeFault(asked, 'NODE_ANSWER_INVALID', 'answered with something that is no list', 'elsewhere');
  }
  if (mode.shape === 'trace_block') {
    return checkBlockHash(asked, list.first, block) ?? list;
  }
  const elements = list.value;
  if (elements.length !== expected) {
    const happened = `answered with traces of ${elements.length} of ${expected} transactions`;
    return makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'elsewhere');
  }
  const traces: unknown[] = [];
  for (const [index, element] of elements.entries()) {
    const own = readTransaction(element, index, mode, facts, asked);
    if ('fault' in own) return own.fault;
    for (const trace of own.traces) traces.push(trace);
  }
  return { value: traces };
}

/** One transaction of a debug answer: `{result, txHash}`; geth puts an error in place of a missing result. */
function readTransaction(
  element: unknown,
  index: number,
  mode: TraceMode,
  block: TracedFacts,
  asked: Parameters<typeof makeFault>[0],
): { traces: unknown[] } | { fault: Fault | 'refused' } {
  const entry = (typeof element === 'object' && element !== null ? element : {}) as Record<string, unknown>;
  const transactionHash = block.hashes[index] ?? '';
  if (typeof entry.error === 'string') {
    const happened = `could not trace transaction ${index} ("${asked.label.quote(entry.error)}")`;
    return { fault: makeFault(asked, 'NODE_ERROR', happened, 'elsewhere') };
  }
  // Nodes before geth 1.11 do not name the transaction.
  if (typeof entry.txHash === 'string' && entry.txHash.toLowerCase() !== transactionHash.toLowerCase()) {
    const happened = `answered with the trace of ${asked.label.quote(entry.txHash)} in the place of ${transactionHash}`;
    return { fault: makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'elsewhere') };
  }
  const { result } = entry;
  if (mode.shape === 'flatCallTracer') {
    // An upstream that does not know the tracer may return an empty object for every transaction.
    return Array.isArray(result) ? { traces: toTraceBlock(result) } : { fault: 'refused' };
  }
  if (typeof result !== 'object' || result === null || Array.isArray(result) || !('type' in result)) {
    return { fault: 'refused' };
  }
  const traces = flattenCallFrame(result, {
    blockHash: block.hash,
    blockNumber: block.number,
    transactionHash,
    transactionPosition: index,
  });
  if (!traces.some(lacksGas)) return { traces };
  const happened = `answered with calls of transaction ${index} that have no gas`;
  const hint =
    'Its callTracer is too old for that: update the node, or let one with trace_block give the traces.';
  return { fault: makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'elsewhere', { hint }) };
}

/** A generator that was never started runs no `finally`: its source is closed here. */
function closingBoth(
  traces: AsyncGenerator<unknown>,
  elements: AsyncIterable<unknown>,
): AsyncIterableIterator<unknown> {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => traces.next(),
    return: async () => {
      await elements[Symbol.asyncIterator]().return?.();
      return traces.return(undefined);
    },
  };
}

/** The same, element by element; the first invalid one ends the reading and closes the connection. */
async function* streamTraces(
  elements: AsyncIterable<unknown>,
  mode: TraceMode,
  block: TracedFacts,
  asked: Parameters<typeof makeFault>[0],
): AsyncGenerator<unknown> {
  let index = 0;
  for await (const element of elements) {
    if (mode.shape === 'trace_block') {
      const other = index === 0 ? checkBlockHash(asked, element, block) : null;
      if (other !== null) throw other.error;
      index += 1;
      yield element;
      continue;
    }
    const own = readTransaction(element, index, mode, block, asked);
    if ('fault' in own) {
      if (own.fault !== 'refused') throw own.fault.error;
      const happened = 'answered in a shape that its tracer does not have';
      throw makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'elsewhere').error;
    }
    index += 1;
    yield* own.traces;
  }
  const expected = block.transactions;
  if (mode.shape === 'trace_block' ? index === 0 && expected > 0 : index !== expected) {
    const happened = `answered with ${index} elements for ${expected} transactions`;
    throw makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'elsewhere').error;
  }
}
