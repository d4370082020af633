import type { Soon } from '../http/soon.js';
import { createAnswerJointly } from '../rpc/answer-jointly.js';
import { askWhole, linkAt, NodeSaid } from '../rpc/ask-node.js';
import { checkParams, invalidParams } from '../rpc/check-params.js';
import { type LogFilter, logFilter, readLogFilter } from '../rpc/log-filter.js';
import type { CallContext, RpcAnswer, RpcMethod } from '../rpc/method.js';
import { type LearntRanges, type LogRange, logsOfRange } from '../rpc/split-logs.js';

/** `eth_getLogs`: split if the upstreams refuse it, and refused with a working range if it is too much. */
export function ethGetLogs(learnt: LearntRanges): RpcMethod {
  const answerJointly = createAnswerJointly();
  return {
    name: 'eth_getLogs',
    cost: 5,
    idempotent: true,
    async handle(call, caller) {
      checkParams(call.params, [logFilter]);
      const filter = readLogFilter(call.params[0]);
      const { id, chainId } = caller.at.network;
      const proved = caller.at.integrity === undefined ? '' : ' proved';
      const name = `${id} ${chainId}${proved} eth_getLogs ${JSON.stringify(filter)}`;
      const kept = caller.at.cache.get(name);
      if (kept !== undefined) return { ...whole(kept), kept: name };
      // A call that begins now may know of a newer block than one that is under way.
      const { forwarder } = caller.at;
      const newest = dependsOn(filter, forwarder.head()) ? await forwarder.newest() : null;
      // A place in a batch is another text.
      const single = caller.reserve === undefined;
      return answerJointly(`${name} ${newest} ${single}`, caller, (all) =>
        askOnce(all, filter, { name, learnt, single }),
      );
    },
  };
}

async function askOnce(
  caller: CallContext,
  filter: LogFilter,
  { name, learnt, single }: { name: string; learnt: LearntRanges; single: boolean },
): Promise<RpcAnswer> {
  const { cache, forwarder } = caller.at;
  try {
    const range = await logRangeOf(filter, caller);
    if (range === null) return await askAsItIs(caller, filter, single);
    const isFinal = (): boolean => range.fixed && range.to <= (forwarder.finalized() ?? -1);
    const passedOn = single && !isFinal();
    const far = isFinal() ? await cache.far?.(name) : undefined;
    if (far !== undefined) return { ...whole(far), kept: name };
    const { body: bodyOf, sure } = await logsOfRange(caller, filter, range, { learnt, passedOn });
    const body = bodyOf();
    if (sure && !passedOn && isFinal()) cache.set(name, body.bytes);
    return { kind: 'result', body };
  } catch (error) {
    if (error instanceof NodeSaid) return { kind: 'error', error: error.error };
    throw error;
  }
}

/** Whether the logs depend on a newer block than `head`. */
function dependsOn({ blockHash, fromBlock, toBlock = 'latest' }: LogFilter, head: number | null): boolean {
  if (blockHash !== undefined) return false;
  const numbered = toBlock.startsWith('0x') && fromBlock?.startsWith('0x') === true;
  return !numbered || Number(toBlock) > (head ?? -1);
}

async function askAsItIs(caller: CallContext, filter: LogFilter, passedOn: boolean): Promise<RpcAnswer> {
  const answer = await askWhole(caller, {
    method: 'eth_getLogs',
    params: JSON.stringify([filter]),
    asks: 'logs',
    passedOn,
    ...(filter.blockHash === undefined ? { block: 'tip' as const } : {}),
  });
  return answer.kind === 'error' ? answer : { kind: 'result', body: answer.body };
}

function whole(bytes: Buffer): Extract<RpcAnswer, { kind: 'result' }> {
  return { kind: 'result', body: { bytes, rest: null } };
}

/** The numbers of a filter's range; `fixed`: they do not depend on the head. */
type NumberedRange = LogRange & { fixed: boolean };

/**
 * The numbers of a range; unknown ones are asked from the upstreams. Null if there is nothing to split: a block hash,
 * a single tag, a range that begins with `pending`, or one that currently ends before it begins because of a tag.
 * Throws the problem `params-invalid` if the given numbers end before they begin.
 */
async function logRangeOf(filter: LogFilter, caller: CallContext): Promise<NumberedRange | null> {
  if (filter.blockHash !== undefined) return null;
  const { fromBlock = 'latest', toBlock = 'latest' } = filter;
  const numbered = (block: string): boolean => block.startsWith('0x');
  const fixed = numbered(fromBlock) && numbered(toBlock);
  if (fixed && BigInt(fromBlock) > BigInt(toBlock)) throw invalidParams('invalid block range params', 0);
  const { forwarder } = caller.at;
  const pinned = async (block: string): Promise<number | null> =>
    block === 'safe' || block === 'finalized' ? forwarder.pinned(block) : null;
  const pinnedTo = await pinned(toBlock);
  if ((fromBlock === toBlock && !fixed && pinnedTo === null) || fromBlock === 'pending') return null;
  const asked = async (tag: 'latest' | 'safe' | 'finalized'): Promise<number | null> =>
    (await linkAt(caller, tag))?.number ?? null;
  const head = forwarder.head() ?? (await asked('latest'));
  const numberOf = (block: string): Soon<number | null> => {
    if (numbered(block)) return Number(block);
    if (block === 'earliest') return 0;
    if (block === 'safe' || block === 'finalized')
      return pinned(block).then((number) => number ?? asked(block));
    // Pending blocks come after the head: the tag is sent with the last part.
    return head;
  };
  const same = fromBlock === toBlock ? pinnedTo : null;
  const [from, named] = [same ?? (await numberOf(fromBlock)), pinnedTo ?? (await numberOf(toBlock))];
  if (from === null || named === null || head === null) return null;
  // Clients write a number beyond the head for "all"; a node may have new blocks since its last check.
  const to = Math.min(named, Math.max(from, head));
  if (to < from) return null;
  const whole = named === to;
  return {
    from,
    to,
    fixed: fixed && whole,
    toText: pinnedTo !== null || (numbered(toBlock) && whole) ? undefined : toBlock,
  };
}
