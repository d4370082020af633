import { toQuantity } from '@packhouse/chain';
import { Problem } from '../http/problem.js';
import type { CallContext } from '../rpc/method.js';
import type { ReportedBlock } from './filter-state.js';

/**
 * The refusal of a poll that cannot tell all that a reorganisation changed. `removed`: the removed blocks that the filter
 * remembers, newest first; `why` goes on after them. The filter is unchanged: it can be polled again if its branch
 * comes back, and expires otherwise.
 */
export function filterLost(caller: CallContext, removed: readonly ReportedBlock[], why: string): Problem {
  const [newest, oldest] = [removed[0] as ReportedBlock, removed.at(-1) as ReportedBlock];
  const final = caller.network.forwarder.finalized();
  // A final block that was removed was not final.
  const readFrom = final === null || final >= oldest.number ? null : final + 1;
  const place =
    readFrom === null
      ? `a block before ${oldest.number} that you know to be unchanged`
      : `block ${readFrom}, the first that is not final`;
  return new Problem('filter-lost', {
    detail: `A reorganisation removed blocks ${oldest.number} to ${newest.number}, ${why}; create a new filter and read again from ${place}, with eth_getLogs.`,
    members: {
      removed: { fromBlock: toQuantity(oldest.number), toBlock: toQuantity(newest.number) },
      readFrom: readFrom === null ? undefined : toQuantity(readFrom),
    },
  });
}
