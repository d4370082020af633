import { toQuantity } from '@packhouse/chain';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext } from '../calls/call.js';
import type { Mode } from '../calls/capabilities.js';
import type { FetchRequest } from '../heads/choose-node.js';
import { type Fault, isFault } from '../upstream/fault.js';
import type { FetchedBlock, MethodAnswers } from './block-source.js';
import type { CapableAnswer } from './call-capable.js';
import { closeStream, emptyPart, LazyBlock } from './lazy-block.js';
import { type ReadBlock, readBlock } from './read-block.js';
import { fetchReceipts } from './read-receipts.js';
import { fetchTraces } from './read-traces.js';

/** One upstream's result for one block. */
type NodeOutcome =
  | { ok: true; number: number; fetched: FetchedBlock }
  | { ok: false; number: number; fault: Fault };

/**
 * Fetches blocks from one upstream: first the blocks, then receipts and traces by their hashes, so that a
 * reorganisation cannot mix them. All of a block comes from one upstream, so that a fault can be attributed to it.
 * Rejects only when aborted.
 */
export async function fetchFromNode(
  node: BatchUpstream,
  numbers: readonly number[],
  request: FetchRequest,
  context: CallContext,
): Promise<NodeOutcome[]> {
  const answers = await node.callAll(
    numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [toQuantity(number), true],
      block: number,
      weight: 1,
      oversize: 'assemble',
      raw: true,
    })),
    context,
  );
  const faults = new Map<number, Fault>();
  const blocks: (ReadBlock & { bytes: number })[] = [];
  for (const [index, answer] of answers.entries()) {
    const number = numbers[index] as number;
    const read = answer.ok ? readBlock(node, number, answer) : answer.fault;
    if (isFault(read)) {
      faults.set(number, read);
      continue;
    }
    blocks.push({ ...read, bytes: answer.ok ? answer.bytes : 0 });
    // A head that was never asked for stays unknown: this only shows that the upstream has this block.
    if (node.head !== null && number > node.head) node.head = number;
  }
  // trace_block also returns the rewards of a proof-of-work block without transactions; debug tracers return only
  // transactions.
  const hasRewards = node.capabilities.traces.mode?.shape === 'trace_block';
  const withReceipts = blocks.filter(({ transactions }) => transactions > 0);
  const withTraces = blocks.filter(
    ({ transactions, untraceable }) => !untraceable && (transactions > 0 || hasRewards),
  );
  const [receipts, traces] = await Promise.all([
    request.receipts ? fetchReceipts(node, withReceipts, context) : undefined,
    request.traces ? fetchTraces(node, withTraces, context) : undefined,
  ]);
  const fetched = new Map<number, FetchedBlock>();
  for (const { block, bytes, header, number, transactionBytes } of blocks) {
    const ownReceipts = receipts?.get(number);
    const ownTraces = traces?.get(number);
    const answered: MethodAnswers[] = [{ method: 'eth_getBlockByNumber', calls: 1, bytes }];
    for (const own of [ownReceipts, ownTraces]) {
      if (own === undefined) continue;
      if (isFault(own)) faults.set(number, own);
      else answered.push(toAnswered(own));
    }
    if (faults.has(number)) {
      // The connection of traces that will not be read.
      if (ownTraces !== undefined && !isFault(ownTraces)) closeStream(ownTraces.part);
      continue;
    }
    const toPart = <T>(own: { part: T } | Fault | undefined, isRequested: boolean) =>
      own !== undefined && !isFault(own) ? own.part : isRequested ? emptyPart() : undefined;
    fetched.set(
      number,
      new LazyBlock({
        number,
        upstream: node.name,
        client: node.client,
        block,
        header,
        transactionBytes,
        receipts: toPart(ownReceipts, request.receipts),
        traces: toPart(ownTraces, request.traces),
        answered,
      }),
    );
  }
  return numbers.map((number): NodeOutcome => {
    const block = fetched.get(number);
    return block === undefined
      ? { ok: false, number, fault: faults.get(number) as Fault }
      : { ok: true, number, fetched: block };
  });
}

function toAnswered({ answers, mode }: CapableAnswer<Mode, unknown>): MethodAnswers {
  const bytes = answers.reduce((sum, one) => sum + one.bytes, 0);
  return { method: mode.method, calls: answers.length, bytes };
}
