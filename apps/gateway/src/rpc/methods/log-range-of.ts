import type { LogRange } from '../logs-split.js';
import type { RpcVisit } from '../method.js';
import { invalidParams } from '../params/check-params.js';
import type { LogFilter } from '../params/log-filter.js';

/** The numbers of a filter's range; `fixed`: they mean the same blocks whenever they are asked for. */
export type NumberedRange = LogRange & { fixed: boolean };

/**
 * The numbers of a range. Null where they are the node's to say: a block hash, `pending` and `safe`, a head that is not
 * known, a range that begins beyond it. Throws the problem `params-invalid` for one that ends before it begins.
 */
export function logRangeOf(filter: LogFilter, { at }: Pick<RpcVisit, 'at'>): NumberedRange | null {
  if (filter.blockHash !== undefined) return null;
  const { fromBlock = 'latest', toBlock = 'latest' } = filter;
  const numbered = (block: string): boolean => block.startsWith('0x');
  const fixed = numbered(fromBlock) && numbered(toBlock);
  if (fixed && BigInt(fromBlock) > BigInt(toBlock)) throw invalidParams('invalid block range params', 0);
  if (fromBlock === toBlock && !fixed) return null;
  const head = at.forwarder.head();
  const numberOf = (block: string): number | null => {
    if (numbered(block)) return Number(block);
    if (block === 'earliest') return 0;
    if (block === 'latest') return head;
    return block === 'finalized' ? at.forwarder.finalized() : null;
  };
  const [from, named] = [numberOf(fromBlock), numberOf(toBlock)];
  if (from === null || named === null || head === null || from > head) return null;
  // Clients write a number beyond the head for "all".
  const to = Math.min(named, head);
  if (to < from) return null;
  const whole = named === to;
  return { from, to, fixed: fixed && whole, toText: numbered(toBlock) && whole ? undefined : toBlock };
}
