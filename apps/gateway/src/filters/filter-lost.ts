import { Problem } from '../http/problem.js';
import type { CallContext } from '../rpc/method.js';
import type { ToldBlock } from './filter-state.js';

/**
 * The refusal of a poll that cannot tell all that a reorganisation changed. `undone`: the removed blocks that the filter
 * remembers, newest first; `why` goes on after them. The filter is unchanged: it can be polled again if its branch
 * comes back, and expires otherwise.
 */
export function filterLost(caller: CallContext, undone: readonly ToldBlock[], why: string): Problem {
  const [newest, oldest] = [undone[0] as ToldBlock, undone.at(-1) as ToldBlock];
  const final = caller.at.forwarder.finalized();
  // A final block that was removed was not final.
  const readFrom = final === null || final >= oldest.number ? null : final + 1;
  const place =
    readFrom === null
      ? `a block before ${oldest.number} that you know to be unchanged`
      : `block ${readFrom}, the first that is not final`;
  return new Problem('filter-lost', {
    detail: `A reorganisation removed blocks ${oldest.number} to ${newest.number}, ${why}; create a new filter, and read again from ${place}, with eth_getLogs.`,
    members: {
      removed: { fromBlock: hex(oldest.number), toBlock: hex(newest.number) },
      ...(readFrom === null ? {} : { readFrom: hex(readFrom) }),
    },
  });
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
