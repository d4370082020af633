import { toQuantity } from '@packhouse/chain';
import type { Forwarder } from '@packhouse/node-rpc';
import { getMaxLogRange } from '../access/key-restrictions.js';
import type { MaybePromise } from '../http/maybe-promise.js';
import { Problem } from '../http/problem.js';
import { failure, linkAt } from './ask-node.js';
import { invalidParams } from './check-params.js';
import type { CallContext, RangeTexts } from './method.js';
import type { LogRange } from './split-logs.js';

/**
 * Throws the problem `log-range-too-wide` if a range has more blocks than one call of the key may ask for. The message has
 * the words of reth (`query exceeds max block range`) and the range as Infura writes it (`Try with this block range`,
 * -32005), from which ponder, rindexer and graph-node read the range to ask for next.
 */
export async function requireLogRange(given: RangeTexts, caller: CallContext): Promise<void> {
  const limit = getMaxLogRange(caller.key);
  if (limit === Number.POSITIVE_INFINITY) return;
  const range = await getLogRange(given, caller, true);
  if (range === null) return;
  const { from, to } = range;
  const requested = to - from + 1;
  if (requested <= limit) return;
  const [fromBlock, toBlock] = [toQuantity(from), toQuantity(from + limit - 1)];
  throw new Problem('log-range-too-wide', {
    detail: `query exceeds max block range ${limit}: blocks ${from} to ${to} are ${requested}. Try with this block range [${fromBlock}, ${toBlock}].`,
    members: { limit, requested, suggestedRange: { fromBlock, toBlock } },
  });
}

/** The numbers of a filter's range; `fixed`: they do not depend on the head. */
type NumberedRange = LogRange & { fixed: boolean };

/**
 * The numbers of a range; unknown ones are asked from the upstreams. Null if there is nothing to split: a block hash,
 * a single tag, a range that begins with `pending`, or one that currently ends before it begins because of a tag.
 * Throws the problem `params-invalid` if the given numbers end before they begin. `mustKnow`: throws the problem
 * `upstream-unavailable` if no node knows a tag, rather than leave the range to the nodes.
 */
export async function getLogRange(
  filter: RangeTexts,
  caller: CallContext,
  mustKnow = false,
): Promise<NumberedRange | null> {
  if (filter.blockHash !== undefined) return null;
  const { fromBlock = 'latest', toBlock = 'latest' } = filter;
  const numbered = (block: string): boolean => block.startsWith('0x');
  const fixed = numbered(fromBlock) && numbered(toBlock);
  if (fixed && BigInt(fromBlock) > BigInt(toBlock)) throw invalidParams('invalid block range params', 0);
  const { forwarder } = caller.network;
  const pinned = async (block: string): Promise<number | null> =>
    block === 'safe' || block === 'finalized' ? forwarder.taggedBlock(block) : null;
  const pinnedTo = await pinned(toBlock);
  if ((fromBlock === toBlock && !fixed && pinnedTo === null) || fromBlock === 'pending') return null;
  const fetchNumber = async (tag: 'latest' | 'safe' | 'finalized'): Promise<number | null> =>
    (await linkAt(caller, tag))?.number ?? null;
  const head = forwarder.head() ?? (await fetchNumber('latest'));
  const toNumber = (block: string): MaybePromise<number | null> => {
    if (numbered(block)) return Number(block);
    if (block === 'earliest') return 0;
    if (block === 'safe' || block === 'finalized')
      return pinned(block).then((number) => number ?? fetchNumber(block));
    // Pending blocks come after the head: the tag is sent with the last part.
    return head;
  };
  const same = fromBlock === toBlock ? pinnedTo : null;
  const [from, named] = [same ?? (await toNumber(fromBlock)), pinnedTo ?? (await toNumber(toBlock))];
  if (from === null || named === null || head === null) {
    if (!mustKnow) return null;
    throw failure({ reason: 'unavailable', detail: 'no node knows the blocks that the tags stand for' });
  }
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

/**
 * The parameters with the numbers that `safe` and `finalized` stand for, as parameters and as `blockNumber` of one
 * (EIP-1898). A tag that no node knows stays, and the nodes answer for it.
 */
export async function pinTags(
  params: readonly unknown[],
  forwarder: Pick<Forwarder, 'sharedHead' | 'taggedBlock'>,
  /** So many nodes have to answer alike: `latest` is the newest block that as many have. */
  agree?: number,
): Promise<unknown[]> {
  const pin = async (value: unknown): Promise<unknown> => {
    if (value === 'latest' && agree !== undefined) {
      const head = forwarder.sharedHead(agree);
      return head === null ? value : toQuantity(head);
    }
    if (value !== 'safe' && value !== 'finalized') return value;
    const number = await forwarder.taggedBlock(value);
    return number === null ? value : toQuantity(number);
  };
  return Promise.all(
    params.map(async (param) => {
      if (typeof param !== 'object' || param === null || !('blockNumber' in param)) return pin(param);
      return { ...param, blockNumber: await pin(param.blockNumber) };
    }),
  );
}
