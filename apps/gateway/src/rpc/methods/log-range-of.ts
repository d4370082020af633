import { linkAt } from '../../filters/read-chain.js';
import type { Soon } from '../../http/soon.js';
import type { LogRange } from '../logs-split.js';
import type { RpcVisit } from '../method.js';
import { invalidParams } from '../params/check-params.js';
import type { LogFilter } from '../params/log-filter.js';

/** The numbers of a filter's range; `fixed`: they mean the same blocks whenever they are asked for. */
export type NumberedRange = LogRange & { fixed: boolean };

/**
 * The numbers of a range; what is not known here is asked of the nodes. Null where there is nothing to split: a block
 * hash, a tag alone, a range that begins with `pending` or that ends before it begins by what a tag means now. Throws
 * the problem `params-invalid` for one whose numbers end before they begin.
 */
export async function logRangeOf(filter: LogFilter, visit: RpcVisit): Promise<NumberedRange | null> {
  if (filter.blockHash !== undefined) return null;
  const { fromBlock = 'latest', toBlock = 'latest' } = filter;
  const numbered = (block: string): boolean => block.startsWith('0x');
  const fixed = numbered(fromBlock) && numbered(toBlock);
  if (fixed && BigInt(fromBlock) > BigInt(toBlock)) throw invalidParams('invalid block range params', 0);
  if ((fromBlock === toBlock && !fixed) || fromBlock === 'pending') return null;
  const { forwarder } = visit.at;
  const asked = async (tag: 'latest' | 'safe' | 'finalized'): Promise<number | null> =>
    (await linkAt(visit, tag))?.number ?? null;
  const head = forwarder.head() ?? (await asked('latest'));
  const numberOf = (block: string): Soon<number | null> => {
    if (numbered(block)) return Number(block);
    if (block === 'earliest') return 0;
    if (block === 'safe') return asked(block);
    // What waits is behind the head: the tag is sent with the last part.
    return block === 'finalized' ? (forwarder.finalized() ?? asked(block)) : head;
  };
  const [from, named] = [await numberOf(fromBlock), await numberOf(toBlock)];
  if (from === null || named === null || head === null) return null;
  // Clients write a number beyond the head for "all"; a node may have gone on since it was looked at.
  const to = Math.min(named, Math.max(from, head));
  if (to < from) return null;
  const whole = named === to;
  return { from, to, fixed: fixed && whole, toText: numbered(toBlock) && whole ? undefined : toBlock };
}
